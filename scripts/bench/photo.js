import { copyFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import sharp from 'sharp'
import { pseudorandom } from '../pseudorandom.js'

const [WIDTH, HEIGHT] = [3000, 2000]
// From the large shapes of an image to its grain: pixels per row, and the maximum distance from the middle gray.
const LAYERS = [
  { width: 12, contrast: 127 },
  { width: 120, contrast: 60 },
  { width: 750, contrast: 30 },
  { width: WIDTH, contrast: 10 },
]

/** Photos in a folder of their own: the given one, or generated ones. @returns {Promise<string[]>} their paths */
export async function photosIn(folder, given) {
  const photos = join(folder, 'photos')
  mkdirSync(photos)
  if (given) {
    const path = join(photos, basename(given))
    copyFileSync(given, path)
    return [path]
  }
  const raw = { width: WIDTH, height: HEIGHT, channels: 3 }
  const photo = sharp(await pixels(), { raw }).jpeg({ quality: 85 })
  const made = [photo, photo.clone().flip(), photo.clone().flop(), photo.clone().flip().flop()]
  const paths = made.map((_, i) => join(photos, `photo-${i + 1}.jpg`))
  await Promise.all(made.map((picture, i) => picture.toFile(paths[i])))
  return paths
}

/** Noise that costs about as much as a photo: as JPEG it has about 2 MB. Always the same. */
async function pixels() {
  const random = pseudorandom(1)
  const [first, ...others] = await Promise.all(LAYERS.map((layer) => noise(layer, random)))
  const sum = Buffer.alloc(first.length)
  for (let i = 0; i < sum.length; i += 1) {
    let value = first[i]
    for (const layer of others) value += layer[i] - 128
    sum[i] = Math.min(255, Math.max(0, value))
  }
  return sum
}

function noise({ width, contrast }, random) {
  const height = Math.round((width * HEIGHT) / WIDTH)
  const grid = Buffer.alloc(width * height * 3)
  for (let i = 0; i < grid.length; i += 1) grid[i] = 128 + (random() * 2 - 1) * contrast
  return sharp(grid, { raw: { width, height, channels: 3 } })
    .resize(WIDTH, HEIGHT, { kernel: 'cubic' })
    .raw()
    .toBuffer()
}
