import { accepts } from '../../src/core/media/accept.ts'
import { IMAGE_OUTPUTS, isAnimated, isOffice, mayBeAnimated } from '../../src/core/media/formats.ts'
import { searchQuality } from '../../src/core/media/quality-search.ts'
import type { PlanRequest } from '../../src/core/plugin-api/plan-request.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter, type Problem } from '../../src/core/problem.ts'
import { notTransformable } from '../../src/core/transform-problems.ts'
import { checkEncoders, encoded, type OutputFormat, usualFormat } from './encoders.mts'

type FormatName = OutputFormat | 'svg' | 'auto'

// Steps after which the gain map of the source still fits, in another size.
const SCALING = ['image-orient', 'image-resize']

const DEFAULT_QUALITY = 75
// Above this quality, an output shows the compression of the smaller copy from which it would be rendered.
const COPIES_MAX_QUALITY = 90
// These formats have pages, and so have Office documents. Animations have frames.
const PAGED = ['tiff', 'pdf']
// Formats that can have a gain map: an output, and its source.
const MAPPED = ['jpeg', 'avif']
const WITH_MAPS = [...MAPPED, 'heic']
const WITH_QUALITY = ['jpeg', 'webp', 'avif', 'tiff']

// A photo of 4 MP takes a core 2.7 s as AVIF, 0.4 s as WebP. Above this size, f=auto selects WebP if the client
// accepts it.
const AUTO_AVIF_MAX_PIXELS = 4_000_000
// Limits over all frames: seven encodings of this many pixels take a core ten seconds as AVIF, six as WebP.
const SEARCH_MAX_PIXELS = { avif: 2_000_000, others: 8_000_000 }

/** Encodes the image in the requested format, by default in that of the source. */
export default definePlugin({
  name: 'image-format',
  engine: 'sharp',
  phase: 'encode',
  always: true,
  params: {
    f: {
      type: 'enum',
      values: [...IMAGE_OUTPUTS, 'svg', 'auto'],
      synonyms: { jpg: 'jpeg', tif: 'tiff' },
      aliases: ['format'],
      help: 'Output format. auto: the best format of the Accept header. svg: the uploaded SVG, unchanged.',
    },
    q: {
      type: 'integer',
      min: 1,
      max: 100,
      aliases: ['quality'],
      help: `Quality of ${WITH_QUALITY.join(', ')}. Default: ${DEFAULT_QUALITY}, unless the operator sets another one.`,
    },
    lossless: {
      type: 'flag',
      help: 'Lossless WebP, AVIF or TIFF; PNG and GIF are always lossless. f=auto chooses a lossless format.',
    },
    maxbytes: {
      type: 'integer',
      min: 1,
      max: 100_000_000,
      unit: 'bytes',
      help: 'Maximum size of the output: the quality is lowered to reach it, to 1 at worst. No effect on PNG, GIF and lossless output.',
    },
    a: {
      type: 'enum',
      values: ['0', '1'],
      default: '1',
      aliases: ['animated'],
      help: '0: only the first frame of an animation. 1: all frames, if the format supports animation.',
    },
    page: {
      type: 'integer',
      min: 1,
      max: 10_000,
      help: 'Page of a PDF, Office document or TIFF, or frame of an animation (GIF, WebP, AVIF, HEIC, JPEG XL, PNG), to use. 1: the first.',
    },
    icc: {
      type: 'enum',
      values: ['srgb', 'keep'],
      default: 'srgb',
      help: 'keep: wide-gamut colours and their ICC profile are retained. srgb: colours are converted to sRGB, without a profile.',
    },
    hdr: {
      type: 'enum',
      values: ['keep', 'sdr'],
      default: 'keep',
      help: 'HDR of a photo with a gain map (Ultra HDR) that becomes a JPEG or AVIF. keep: with the gain map, unless another parameter changes more than size and quality. sdr: without it.',
    },
  },
  checkOptions({ quality = {}, ...others }) {
    checkEncoders(others)
    const fits = typeof quality === 'object' && quality !== null && Object.entries(quality).every(isQuality)
    if (fits) return
    const expected = `an object of ${WITH_QUALITY.join(', ')} (each an integer from 1 to 100)`
    throw new Error(`expected ${expected} for its option quality but received ${JSON.stringify(quality)}`)
  },
  resolve({ f: requested, q, lossless, maxbytes, a, page, icc, hdr }, request) {
    const { format, options } = request
    if (requested === 'svg') return uploadedSvg(request)
    const isStill = a === '0' || page !== undefined
    const moving = isAnimated(format.name) && !isStill
    // A background of the request makes the image opaque again.
    const isTransparent = request.isTransparent() && !request.named.has('bg')
    const f =
      requested === 'auto'
        ? bestAccepted(request, { moving, lossless, isTransparent })
        : (requested ?? (isTransparent ? transparentFormat(format.name) : undefined))
    const outputs = outputsOf(f, format.name)
    const [output] = outputs
    if (lossless && output === 'jpeg') {
      const expected = `one of ${IMAGE_OUTPUTS.filter((each) => each !== 'jpeg').join(', ')}, auto with lossless`
      throw badParameter({ param: 'f', expected, received: requested ?? 'jpeg' })
    }
    const isPaged = PAGED.includes(format.name) || isOffice(format) || mayBeAnimated(format.name)
    if (page !== undefined && page > 1 && !isPaged) {
      throw badParameter({ param: 'page', expected: `1 (a ${format.name} has one page)`, received: page })
    }
    const withQuality = WITH_QUALITY.includes(output) && !lossless
    const usualQuality = outputs.every((each) => q === qualityOf(each, options))
    return {
      f: f === usualFormat(format.name) ? undefined : f,
      q: withQuality && !usualQuality ? q : undefined,
      lossless: lossless && WITH_QUALITY.includes(output) ? lossless : undefined,
      maxbytes: withQuality ? maxbytes : undefined,
      // The first page of an animation equals its first frame.
      a: mayBeAnimated(format.name) && isAnimated(output) && (page ?? 1) === 1 && isStill ? '0' : '1',
      page: page === 1 ? undefined : page,
      icc: output === 'gif' || format.name === 'gif' || format.name === 'svg' ? 'srgb' : icc,
      hdr:
        MAPPED.includes(output) && WITH_MAPS.includes(format.name) && maxbytes === undefined ? hdr : 'keep',
    }
  },
  opening({ f, a, page = 1, icc, hdr, maxbytes }, { format }) {
    const outputs = outputsOf(f, format.name)
    const still = a === '0' || page > 1 || !outputs.every(isAnimated)
    // Only these outputs can have one, and the search for a quality renders pixels, which have none.
    const isMapped = hdr === 'keep' && MAPPED.includes(outputs[0]) && maxbytes === undefined
    const gainMap = isMapped ? 'keep' : 'ignore'
    return { frames: still ? 'first' : 'all', page, profile: icc, gainMap }
  },
  needs({ q = 0, lossless, maxbytes, page, icc }, { source }) {
    // Pages of documents have copies. Those of a TIFF and frames of an animation have none.
    const isUncopied = page !== undefined && !source.isBound
    const isExact = lossless || maxbytes !== undefined || isUncopied || icc === 'keep'
    return isExact || q > COPIES_MAX_QUALITY ? undefined : 'outcome'
  },
  holds: ({ maxbytes }) => (maxbytes === undefined ? undefined : 'outcome'),
  async transform(image, { f, q, lossless, maxbytes }, { source, options, pass, settle, render, signal }) {
    const outputs = outputsOf(f, source.format)
    const { width, height, pages } = source
    const mostAvif = maxbytes === undefined ? AUTO_AVIF_MAX_PIXELS : SEARCH_MAX_PIXELS.avif
    const output = outputs[width * height > mostAvif ? outputs.length - 1 : 0] ?? outputs[0]
    const from = q ?? qualityOf(output, options)
    if (maxbytes === undefined) {
      const { gainMap, ...facts } = source
      const isSame = !source.framed && pass.every((name) => SCALING.includes(name))
      const draft = encoded(image, output, { quality: from, lossless, options })
      return { draft, source: gainMap && isSame ? source : facts }
    }
    const maxPixels = output === 'avif' ? SEARCH_MAX_PIXELS.avif : SEARCH_MAX_PIXELS.others
    if (width * height * pages > maxPixels) {
      throw tooLargeToSearch(output, { width, height, pages, maxPixels })
    }
    // One draft for all tries: a clone would hold all pixels once more.
    const { draft } = await settle(image)
    let last = from
    const bytesOf = async (quality: number) => {
      signal.throwIfAborted()
      last = quality
      return (await render(encoded(draft, output, { quality, lossless, options }))).size
    }
    const found = await searchQuality({ from, maxBytes: maxbytes, bytesOf })
    if (found !== last) await bytesOf(found)
    return draft
  },
})

function isQuality([format, value]: [string, unknown]): boolean {
  return (
    WITH_QUALITY.includes(format) && Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100
  )
}

function qualityOf(output: OutputFormat, { quality }: PlanRequest['options']): number {
  return (quality as Partial<Record<OutputFormat, number>> | undefined)?.[output] ?? DEFAULT_QUALITY
}

/**
 * The output formats in question. For a resolved `auto`, the size decides: AVIF, or the second one when AVIF would
 * take too long.
 */
function outputsOf(resolved: FormatName | undefined, source: string): [OutputFormat, ...OutputFormat[]] {
  if (resolved === 'auto') return ['avif', 'webp']
  return [usualFormat(resolved ?? source)]
}

function tooLargeToSearch(
  output: OutputFormat,
  { width, height, pages, maxPixels }: { width: number; height: number; pages: number; maxPixels: number },
): Problem {
  const size = `${width} x ${height} px${pages > 1 ? ` in ${pages} frames` : ''}`
  return notTransformable(
    `expected an output of at most ${maxPixels} pixels over all frames for maxbytes as ${output} but this one is ${size}. Request a smaller size.`,
  )
}

/** Returns the uploaded SVG, without any other parameter. */
function uploadedSvg({ format, named }: PlanRequest): 'original' {
  if (format.name !== 'svg') {
    const expected = `one of ${IMAGE_OUTPUTS.join(', ')}, auto (svg only for an SVG)`
    throw badParameter({ param: 'f', expected, received: 'svg' })
  }
  const other = [...named].find((name) => name !== 'f')
  if (other === undefined) return 'original'
  const expected = 'no other parameter with f=svg (the uploaded SVG is delivered unchanged)'
  throw badParameter({ param: other, expected, received: other })
}

/** The usual format of a source, or PNG when that has no transparency. */
function transparentFormat(source: string): OutputFormat {
  const usual = usualFormat(source)
  return usual === 'jpeg' || usual === 'tiff' ? 'png' : usual
}

/**
 * Returns AVIF, WebP or the source's format, the first that can hold the image, otherwise PNG, which can hold any. A
 * possible animation stays one, which excludes AVIF. A lossless image is far smaller as WebP, and faster to encode.
 */
function bestAccepted(
  { accept, format, tooSmall }: PlanRequest,
  {
    moving,
    lossless,
    isTransparent,
  }: { moving: boolean; lossless: boolean | undefined; isTransparent: boolean },
): OutputFormat | 'auto' {
  const [same] = outputsOf(isTransparent ? transparentFormat(format.name) : undefined, format.name)
  const can = (output: OutputFormat) => accepts(accept(), `image/${output}`) && !tooSmall.includes(output)
  if (!moving && !lossless && can('avif')) return can('webp') ? 'auto' : 'avif'
  if (can('webp')) return 'webp'
  return tooSmall.includes(same) || (lossless && same === 'jpeg') ? 'png' : same
}
