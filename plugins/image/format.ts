import type { Sharp } from 'sharp'
import { definePlugin } from '../../src/core/plugin.ts'

// What sharp writes, by Sluice's names.
const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'] as const
type OutputFormat = (typeof FORMATS)[number]

const DEFAULT_QUALITY = 75
const WITHOUT_QUALITY = new Set(['png', 'gif'])

/** Encodes the picture: in the format asked for, else in that of the source. */
export default definePlugin({
  name: 'image-format',
  engine: 'sharp',
  phase: 'encode',
  always: true,
  params: {
    f: {
      type: 'enum',
      values: [...FORMATS, 'auto'],
      synonyms: { jpg: 'jpeg', tif: 'tiff' },
      aliases: ['format'],
      help: 'Format; auto is the best that the Accept header names',
    },
    q: {
      type: 'integer',
      min: 1,
      max: 100,
      default: DEFAULT_QUALITY,
      aliases: ['quality'],
      help: 'Quality of jpeg, webp, avif and tiff',
    },
  },
  resolve({ f, q }, { format, accept, tooSmall }) {
    const asked = f === 'auto' ? bestAccepted(accept(), format.name, tooSmall) : f
    // What is written unless told otherwise.
    const usual = format.name === 'svg' ? 'png' : format.name
    return {
      f: asked === usual ? undefined : asked,
      q: WITHOUT_QUALITY.has(asked ?? usual) ? DEFAULT_QUALITY : q,
    }
  },
  opening: ({ f }, { format }) => ({ frames: keepsFrames(outputFormat(f, format.name)) ? 'all' : 'first' }),
  transform(image, { f, q: quality }, { source }) {
    switch (outputFormat(f, source.format)) {
      case 'jpeg':
        return opaque(image).jpeg({ quality, progressive: true })
      case 'png':
        return image.png()
      case 'webp':
        return image.webp({ quality })
      case 'avif':
        // Effort 2 of 9: higher ones take many times as long for a few percent.
        return image.avif({ quality, effort: 2 })
      case 'tiff':
        return opaque(image).tiff({ quality })
      case 'gif':
        return image.gif()
    }
  },
})

/**
 * JPEG, and TIFF that holds JPEG, have no transparency: white is what a page shows through it. Sharp flattens before it
 * resizes, whatever the order of calls; what the resize leaves empty is white already and only has to lose its alpha.
 */
function opaque(image: Sharp): Sharp {
  return image.flatten({ background: '#fff' }).removeAlpha()
}

/** PNG for a source that cannot be written as it is (SVG): it keeps the edges and the transparency. */
function outputFormat(asked: string | undefined, source: string): OutputFormat {
  return FORMATS.find((format) => format === (asked ?? source)) ?? 'png'
}

function keepsFrames(format: OutputFormat): boolean {
  return format === 'gif' || format === 'webp'
}

/**
 * AVIF, WebP or the source's format, the first that can hold the picture; else PNG, which holds any. What may be an
 * animation stays one, which rules out AVIF.
 */
function bestAccepted(accept: string, source: string, tooSmall: readonly string[]): OutputFormat {
  const same = outputFormat(undefined, source)
  const candidates: OutputFormat[] = []
  if (!keepsFrames(same) && accepts(accept, 'image/avif')) candidates.push('avif')
  if (accepts(accept, 'image/webp')) candidates.push('webp')
  candidates.push(same)
  return candidates.find((format) => !tooSmall.includes(format)) ?? 'png'
}

// Only a type that is named counts: `image/*` is also what browsers say that cannot show AVIF.
function accepts(accept: string, mediaType: string): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === mediaType && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
