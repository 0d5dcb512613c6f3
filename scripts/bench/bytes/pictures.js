import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { root } from '../../ready/run.js'
import { page } from '../encoders/pictures.js'

const PACKAGES = join(root, 'scripts/bench/encoders/node_modules')
const BLOG = 'startbootstrap-clean-blog/dist/assets/img'
const CREATIVE = 'startbootstrap-creative/dist/assets/img'
const FREELANCER = 'startbootstrap-freelancer/dist/assets/img'

const PHOTOS = [
  ...['about', 'contact', 'home', 'post'].map((name) => `${BLOG}/${name}-bg.jpg`),
  `${CREATIVE}/bg-masthead.jpg`,
]
const SMALL_PHOTOS = [1, 2, 3, 4, 5, 6].map((name) => `${CREATIVE}/portfolio/fullsize/${name}.jpg`)
const DRAWINGS = ['cabin', 'cake', 'circus', 'game', 'safe', 'submarine'].map(
  (name) => `${FREELANCER}/portfolio/${name}.png`,
)

/**
 * Originals of many kinds, as people upload them.
 *
 * @returns {Promise<{name: string, kind: string, bytes: Buffer}[]>} `name` with the extension of its format
 */
export async function originals() {
  const read = (file) => readFileSync(join(PACKAGES, file))
  const of = (kind, files) => files.map((file) => ({ kind, name: file.split('/').at(-1), bytes: read(file) }))
  const photo = sharp(read(PHOTOS[2])).resize(1200)
  const drawing = sharp(read(DRAWINGS[0]))
  const screenshot = sharp(join(root, 'docs/images/console-files.webp'))
  const logo = sharp(read(`${FREELANCER}/avataaars.svg`), { density: 110 })
  const made = [
    ['photo', 'poor.jpg', photo.clone().jpeg({ quality: 35 })],
    ['photo', 'grey.jpg', photo.clone().greyscale().jpeg({ quality: 85 })],
    ['photo', 'photo.webp', photo.clone().webp({ quality: 80 })],
    ['photo as PNG', 'photo.png', photo.clone().png()],
    ['drawing', 'chart.png', sharp(Buffer.from(chart())).png({ palette: true })],
    ['drawing', 'logo.png', logo.clone().png()],
    ['drawing', 'drawing.webp', drawing.clone().webp({ lossless: true })],
    ['text', 'text.png', page().png()],
    ['screenshot', 'screenshot.png', screenshot.clone().png()],
  ]
  return [
    ...of('photo', [...PHOTOS, ...SMALL_PHOTOS]),
    ...of('drawing', DRAWINGS),
    ...(await Promise.all(
      made.map(async ([kind, name, image]) => ({ kind, name, bytes: await image.toBuffer() })),
    )),
    ...(await animations(read(DRAWINGS[3]), read(PHOTOS[3]))),
  ]
}

/** Bars of sixteen colours, with sharp edges. */
function chart() {
  const bar = (i) => {
    const height = (i * 97) % 600
    const colour = `hsl(${i * 24},70%,50%)`
    return `<rect x="${80 + i * 70}" y="${720 - height}" width="50" height="${height}" fill="${colour}"/>`
  }
  const bars = Array.from({ length: 15 }, (_, i) => bar(i)).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="800" shape-rendering="crispEdges"><rect width="1200" height="800" fill="#fff"/>${bars}</svg>`
}

/** A drawing that moves over a background, and a photo that is panned. */
async function animations(drawing, photo) {
  const sprite = await sharp(drawing).resize(120).png().toBuffer()
  const still = await sharp({ create: { width: 360, height: 240, channels: 3, background: '#e8f0e4' } })
    .png()
    .toBuffer()
  const wide = await sharp(photo).resize(500).toBuffer()
  const indexes = Array.from({ length: 12 }, (_, i) => i)
  const moving = await Promise.all(
    indexes.map((i) =>
      sharp(still)
        .composite([{ input: sprite, left: 10 + i * 18, top: 70 }])
        .png()
        .toBuffer(),
    ),
  )
  const panned = await Promise.all(
    indexes.map((i) =>
      sharp(wide)
        .extract({ left: i * 8, top: 20, width: 360, height: 240 })
        .png()
        .toBuffer(),
    ),
  )
  const joined = (frames) => sharp(frames, { join: { animated: true } })
  return [
    { kind: 'animation', name: 'moving.gif', bytes: await joined(moving).gif({ dither: 0 }).toBuffer() },
    { kind: 'animation', name: 'panned.gif', bytes: await joined(panned).gif().toBuffer() },
    {
      kind: 'animation',
      name: 'moving.webp',
      bytes: await joined(moving).webp({ lossless: true }).toBuffer(),
    },
  ]
}
