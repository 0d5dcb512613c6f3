import type Vips from 'wasm-vips'
import { Problem } from '../../../core/problem.ts'
import { checkPage } from '../pixel-limits.ts'
import type { Decoder } from './decoder.ts'
import { jxlFacts } from './jxl-facts.ts'
import { type Pixels, tiffOf } from './tiff.ts'

/**
 * JPEG XL, with libjxl in libvips as WebAssembly: pixels of 8 bits, upright, with their colour profile. The libvips of sharp has no
 * libjxl.
 */
export const jxl: Decoder = {
  library: 'libjxl',
  // Measured with 12 MP: planes of libjxl, its output, and the TIFF.
  bytesPerPixel: 26,

  facts: jxlFacts,

  async decode(bytes, { check, page = 1, frames = 'first' }) {
    if (!jxlFacts(bytes)) throw new Error('the header of the JPEG XL is invalid')
    return withLibrary((vips, add) => {
      // Nothing is decoded before pixels are requested.
      const first = add(vips.Image.newFromBuffer(bytes))
      const pages = pagesOf(first)
      checkPage(page, { pages })
      const isAnimation = frames === 'all' && pages > 1
      check({ width: first.width, height: first.height, pages: isAnimation ? pages : 1 })
      const which = isAnimation ? '[n=-1]' : `[page=${page - 1}]`
      const image = add(vips.Image.newFromBuffer(bytes, which, { access: 'sequential' }))
      const tiff = tiffOf({ ...pixelsOf(add(inBytes(image))), pages: isAnimation ? pages : 1 })
      const file = { bytes: tiff, mediaType: 'image/tiff' }
      if (!isAnimation) return file
      return { ...file, timing: { delay: image.getArrayInt('delay'), loop: image.getInt('loop') } }
    })
  },

  async inspect(bytes) {
    const facts = jxlFacts(bytes)
    if (!facts) throw new Error('the header of the JPEG XL is invalid')
    if (facts.pages !== 'unknown') return { ...facts, pages: 1 }
    return withLibrary((vips, add) => ({
      ...facts,
      pages: pagesOf(add(vips.Image.newFromBuffer(bytes))),
    }))
  },
}

/** A still image has no number of pages. */
function pagesOf(image: Image): number {
  return image.getTypeof('n-pages') === 0 ? 1 : image.getInt('n-pages')
}

type Library = typeof Vips
type Image = Vips.Image

let library: Promise<Library> | undefined

/**
 * Runs work with the library. It starts in 0.2 s, so a process has one instance, until a broken file has made it fail in another
 * way than by an error of its own: its memory may be unusable.
 *
 * @param work calls `add` with each image, which is then released
 */
async function withLibrary<T>(work: (vips: Library, add: (image: Image) => Image) => T): Promise<T> {
  library ??= started()
  const images: Image[] = []
  const add = (image: Image) => {
    images.push(image)
    return image
  }
  try {
    return work(await library, add)
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'RuntimeError') library = undefined
    // Errors of libvips are exceptions of C++.
    throw cause instanceof Problem ? cause : new Error('libjxl cannot decode the JPEG XL', { cause })
  } finally {
    if (library) for (const image of images) image.delete()
  }
}

async function started(): Promise<Library> {
  const { default: start } = await import('wasm-vips')
  const silent = () => {}
  const vips = await start({
    dynamicLibraries: ['vips-jxl.wasm'],
    print: silent,
    printErr: silent,
    // Warnings about parts of broken files.
    preRun: ({ ENV }: { ENV: Record<string, string> }) => {
      ENV.VIPS_WARNING = '0'
    },
  })
  vips.concurrency(1)
  vips.Cache.max(0)
  return vips
}

/** All pixels, with the colour profile. A TIFF of libvips itself would be in memory once more, and all pixels without `sequential`. */
function pixelsOf(image: Image): Pixels {
  const { width, bands: channels, pageHeight } = image
  const pixels = image.writeToMemory() as Uint8Array
  const hasProfile = image.getTypeof('icc-profile-data') !== 0
  return {
    width,
    height: pageHeight,
    channels,
    model: image.interpretation === 'cmyk' ? 'cmyk' : channels < 3 ? 'grey' : 'rgb',
    ...(hasProfile ? { profile: Buffer.from(image.getBlob('icc-profile-data')) } : {}),
    row: (y) => pixels.subarray(y * width * channels, (y + 1) * width * channels),
  }
}

/** Images of 16 bits or of floating-point numbers have 8 bits afterwards. */
function inBytes(image: Image): Image {
  if (image.format === 'uchar') return image.copy()
  return image.format === 'ushort' ? image.cast('uchar', { shift: true }) : image.colourspace('srgb')
}
