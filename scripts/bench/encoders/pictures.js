import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { root } from '../../ready/run.js'
import { photosIn } from '../photo.js'

const PACKAGES = join(root, 'scripts/bench/encoders/node_modules')
// A usual width of a picture on a page.
const WIDTH = 800

// Real pictures of packages, by their files.
const SHIPPED = [
  ['map', 'startbootstrap-clean-blog/dist/assets/img/about-bg.jpg'],
  ['telephone', 'startbootstrap-clean-blog/dist/assets/img/contact-bg.jpg'],
  ['desk', 'startbootstrap-clean-blog/dist/assets/img/home-bg.jpg'],
  ['astronaut', 'startbootstrap-clean-blog/dist/assets/img/post-bg.jpg'],
  ['chair', 'startbootstrap-creative/dist/assets/img/bg-masthead.jpg'],
  ['drawing', 'startbootstrap-freelancer/dist/assets/img/portfolio/cabin.png'],
  ['logo with alpha', 'startbootstrap-freelancer/dist/assets/img/avataaars.svg'],
]

/** Whether the packages with pictures are installed. */
const hasPictures = () => existsSync(join(PACKAGES, '.package-lock.json'))

/**
 * Pixels of pictures of several kinds, 800 px wide.
 *
 * @param {string} temporary folder
 * @returns {Promise<{name: string, data: Buffer, raw: {width: number, height: number, channels: number}}[]>}
 *   without the photos, drawing and logo when their packages are not installed
 */
export async function pictures(temporary) {
  const shipped = hasPictures() ? SHIPPED : []
  const [noise] = await photosIn(mkdtempSync(join(temporary, 'noise-')))
  const console = join(root, 'docs/images/console-files.webp')
  const inputs = [
    ...shipped.map(([name, file]) => [name, sharp(join(PACKAGES, file), { density: 220 })]),
    // At half its size, nothing remains of the compression of the screenshot itself.
    ['screenshot', sharp(console)],
    ['text', page()],
    ['noise', sharp(noise)],
  ]
  return Promise.all(
    inputs.map(async ([name, image]) => {
      const { data, info } = await image
        .resize(WIDTH, undefined, { withoutEnlargement: true })
        .toColourspace('srgb')
        .raw()
        .toBuffer({ resolveWithObject: true })
      const { width, height, channels } = info
      return { name, data, raw: { width, height, channels } }
    }),
  )
}

/** A page of text, in black on white. */
export function page() {
  const require = createRequire(import.meta.url)
  const fontfile = join(dirname(require.resolve('dejavu-fonts-ttf/package.json')), 'ttf/DejaVuSans.ttf')
  const text = readFileSync(join(root, 'LICENSE'), 'utf8')
  const page = sharp({ text: { text, fontfile, font: 'DejaVu Sans 15', width: 760, dpi: 72, rgba: true } })
  return page
    .extend({ top: 20, bottom: 20, left: 20, right: 20, background: '#0000' })
    .flatten({ background: '#fff' })
}
