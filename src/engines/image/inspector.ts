import { encode as blurHash } from 'blurhash'
import sharp, { type Metadata } from 'sharp'
import { rgbaToThumbHash } from 'thumbhash'
import { type Asset, readAll, readStart } from '../../core/bytes/asset.ts'
import { readExif } from '../../core/media/exif.ts'
import { isAnimated } from '../../core/media/formats.ts'
import type { ImageFacts, ImageInspector, PageFacts } from '../../core/plugin-api/inspectors.ts'
import { NOT_TRANSFORMABLE, Problem } from '../../core/problem.ts'
import type { PictureFacts } from './decoders/decoder.ts'
import { decoderOf } from './decoders/decoders.ts'
import { stripDecompressionBombs } from './decompression-bombs.ts'
import { excerptOf } from './excerpts/excerpt.ts'
import { decoding } from './failures.ts'
import { failOn } from './header.ts'

/** Reads facts about images with libvips. */
export const imageInspector: ImageInspector = {
  async facts(source, options) {
    const { maxBytes, decodes, signal } = options
    const excerpt = await excerptIn(source, signal)
    if (excerpt === 'none') return undefined
    if (excerpt) return imageInspector.facts(excerpt, options)
    const isWhole = source.size <= maxBytes
    const bytes = await readStart(source, { maxBytes, signal })
    const decoder = await decoderOf(source, signal)
    if (decoder) {
      const facts =
        (decodes && (await decoding(async () => decoder.inspect?.(bytes)))) || decoder.facts(bytes)
      return facts && withPages(facts)
    }
    const metadata = await metadataOf(bytes, source)
    if (!metadata) return undefined
    const { width, height } = metadata.autoOrient
    const exif = metadata.exif && readExif(metadata.exif)
    return {
      width,
      height,
      // libvips reads the whole animation to count its frames.
      ...(isWhole || !isAnimated(metadata.format) ? { pages: metadata.pages ?? 1 } : {}),
      hasAlpha: metadata.hasAlpha,
      colorSpace: metadata.space,
      ...(exif ? { exif } : {}),
    }
  },

  async colors(small, signal) {
    const bytes = await readAll(small, signal)
    const { data, info } = await sharp(bytes)
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true })
    const { width, height } = info
    const [across, down] = width < height ? [3, 4] : [4, 3]
    const dominantColor = dominant(data)
    return {
      ...(dominantColor ? { dominantColor } : {}),
      thumbHash: Buffer.from(rgbaToThumbHash(width, height, data)).toString('base64'),
      blurHash: blurHash(onWhite(data), width, height, across, down),
      lqip: await placeholder(bytes),
    }
  },
}

/** Only these members: the facts of some decoders have more, for the decoder itself. */
function withPages({
  width,
  height,
  hasAlpha,
  pages = 1,
  pageSizes,
  scriptsWithoutFont,
}: PictureFacts & Partial<Omit<PageFacts, 'pages'>>): ImageFacts {
  return {
    width,
    height,
    hasAlpha,
    ...(pages === 'unknown' ? {} : { pages }),
    ...(pageSizes ? { pageSizes } : {}),
    ...(scriptsWithoutFont ? { scriptsWithoutFont } : {}),
    colorSpace: 'srgb',
  }
}

/** The excerpt of a file that is more than its image; `none` when the file has no image. */
async function excerptIn(source: Asset, signal: AbortSignal): Promise<Asset | 'none' | undefined> {
  try {
    return await excerptOf(source, signal)
  } catch (error) {
    if (error instanceof Problem && error.code === NOT_TRANSFORMABLE) return 'none'
    throw error
  }
}

async function metadataOf(bytes: Buffer, source: Asset): Promise<Metadata | undefined> {
  try {
    // No limit for the size: nothing is decoded here.
    return await sharp(stripDecompressionBombs(bytes), {
      limitInputPixels: false,
      failOn: failOn(source),
    }).metadata()
  } catch {
    return undefined
  }
}

// About 100 to 200 bytes as WebP. Browsers enlarge it smoothly.
const PLACEHOLDER_SIDE = 16

/** A tiny image as a data URI, which a page can contain. */
async function placeholder(image: Buffer): Promise<string> {
  const tiny = await sharp(image)
    .resize(PLACEHOLDER_SIDE, PLACEHOLDER_SIDE, { fit: 'inside' })
    .webp({ quality: 40, alphaQuality: 40, effort: 6 })
    .toBuffer()
  return `data:image/webp;base64,${tiny.toString('base64')}`
}

/**
 * The mean of the pixels in the fullest of 4096 bins, 16 per channel: for an image in one colour exactly that colour.
 * Pixels count by their opacity.
 */
function dominant(rgba: Buffer): string | undefined {
  const bins = new Map<number, { weight: number; r: number; g: number; b: number }>()
  for (let at = 0; at < rgba.length; at += 4) {
    const [r, g, b, alpha] = rgba.subarray(at, at + 4) as unknown as [number, number, number, number]
    const name = ((r >> 4) << 8) | ((g >> 4) << 4) | (b >> 4)
    const bin = bins.get(name) ?? { weight: 0, r: 0, g: 0, b: 0 }
    bins.set(name, {
      weight: bin.weight + alpha,
      r: bin.r + alpha * r,
      g: bin.g + alpha * g,
      b: bin.b + alpha * b,
    })
  }
  let fullest = { weight: 0, r: 0, g: 0, b: 0 }
  for (const bin of bins.values()) if (bin.weight > fullest.weight) fullest = bin
  const { weight, r, g, b } = fullest
  if (weight === 0) return undefined
  const hex = [r, g, b].map((sum) =>
    Math.round(sum / weight)
      .toString(16)
      .padStart(2, '0'),
  )
  return `#${hex.join('')}`
}

/** Draws the pixels on white: BlurHash has no transparency. */
function onWhite(rgba: Buffer): Uint8ClampedArray {
  const shown = new Uint8ClampedArray(rgba)
  for (let at = 0; at < shown.length; at += 4) {
    const alpha = (rgba[at + 3] ?? 0) / 255
    for (let i = at; i < at + 3; i += 1) shown[i] = (rgba[i] ?? 0) * alpha + 255 * (1 - alpha)
    shown[at + 3] = 255
  }
  return shown
}
