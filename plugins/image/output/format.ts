import {
  IMAGE_OUTPUTS,
  isAnimated,
  isOffice,
  mayBeAnimated,
  writesAnimation,
} from '../../../src/core/media/formats.ts'
import { PHOTO_FORMATS } from '../../../src/core/media/photos.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../../src/core/problem.ts'
import { hasEffort, MOST_EFFORT_MAX_PIXELS, withMostEffort } from './effort.mts'
import { checkEncoders, encoded, usualFormat } from './encoders.mts'
import { SEARCH_MAX_PIXELS, withinBytes } from './max-bytes.mts'
import {
  bestAccepted,
  isAuto,
  outputsOf,
  smallOutputs,
  transparentFormat,
  uploadedSvg,
} from './output-format.mts'
import {
  asLook,
  defaultQualities,
  hasQuality,
  isQuality,
  qualityFor,
  qualityOf,
  sameLook,
  WITH_QUALITY,
} from './quality.mts'
import { smallest } from './smallest.mts'
import { asSequence, smallestAnimation } from './smallest-animation.mts'

// Steps after which the gain map of the source still fits, in another size.
const SCALING = ['image-orient', 'image-resize']

// Above this quality of WebP, an output shows the compression of the smaller copy from which it would be rendered.
const COPIES_MAX_QUALITY = 90
const WITH_PALETTE = ['png', 'gif']
// These formats have pages, and so have Office documents. Animations have frames.
const PAGED = ['tiff', 'pdf']
// Formats that can have a gain map: an output, and its source.
const MAPPED = ['jpeg', 'avif']
const WITH_MAPS = [...MAPPED, 'heic']

// A photo of 4 MP takes a core 2.7 s as AVIF, 0.4 s as WebP. Above this size, f=auto selects WebP if the client
// accepts it.
const AUTO_AVIF_MAX_PIXELS = 4_000_000
// Up to 256 x 256, the headers of a format matter, and all acceptable ones are tried.
const SMALL_PIXELS = 65_536

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
      help: `Quality of ${WITH_QUALITY.join(', ')}. With f=auto: that of WebP, or the quality with the same look. Default: ${defaultQualities()}.`,
    },
    lossless: {
      type: 'flag',
      help: 'Lossless WebP, AVIF or TIFF; PNG and GIF are always lossless. f=auto chooses a lossless format.',
    },
    colors: {
      type: 'integer',
      min: 2,
      max: 256,
      aliases: ['colours'],
      help: 'Most colours of a PNG or GIF, in a palette. Of a PNG: 2, 4, 16 or 256, whichever is the next larger. No effect on other formats.',
    },
    effort: {
      type: 'enum',
      values: ['max'],
      help: 'max: the smallest file of the same look, which takes up to ten times as long. JPEG, PNG, WebP and AVIF of up to 2 megapixels; no effect on animations.',
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
  resolve({ f: requested, q, lossless, colors, effort, maxbytes, a, page, icc, hdr }, request) {
    const { format } = request
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
    const withQuality = hasQuality(output) && !lossless
    // Nobody knows the encoder, so the number states a look.
    const quality = q !== undefined && requested === 'auto' && !isAuto(f) ? asLook(q, output) : q
    return {
      // What f=auto became is no value that a URL may have.
      f: f === usualFormat(format.name) ? undefined : (f as typeof requested),
      q: withQuality ? quality : undefined,
      lossless: lossless && (hasQuality(output) || output === 'png') ? lossless : undefined,
      colors: WITH_PALETTE.includes(output) ? colors : undefined,
      effort: hasEffort(output, { lossless }) && !(moving && writesAnimation(output)) ? effort : undefined,
      maxbytes: withQuality ? maxbytes : undefined,
      // The first page of an animation equals its first frame.
      a: mayBeAnimated(format.name) && writesAnimation(output) && (page ?? 1) === 1 && isStill ? '0' : '1',
      page: page === 1 ? undefined : page,
      icc: output === 'gif' || format.name === 'gif' || format.name === 'svg' ? 'srgb' : icc,
      hdr:
        MAPPED.includes(output) && WITH_MAPS.includes(format.name) && maxbytes === undefined ? hdr : 'keep',
    }
  },
  opening({ f, a, page = 1, icc, hdr, maxbytes }, { format }) {
    const outputs = outputsOf(f, format.name)
    // The search for a quality has still images.
    const isSearch = maxbytes !== undefined && outputs[0] === 'avif'
    const still = a === '0' || page > 1 || isSearch || !outputs.every(writesAnimation)
    // Only these outputs can have one, and the search for a quality renders pixels, which have none.
    const isMapped = hdr === 'keep' && MAPPED.includes(outputs[0]) && maxbytes === undefined
    const gainMap = isMapped ? 'keep' : 'ignore'
    return { frames: still ? 'first' : 'all', page, profile: icc, gainMap }
  },
  needs({ f, q, lossless, maxbytes, page, icc }, { source }) {
    // Pages of documents have copies. Those of a TIFF and frames of an animation have none.
    const isUncopied = page !== undefined && !source.isBound
    const isExact = lossless || maxbytes !== undefined || isUncopied || icc === 'keep'
    const [output] = outputsOf(f, source.format)
    const look = q !== undefined && !isAuto(f) && hasQuality(output) ? sameLook(q, output, 'webp') : (q ?? 0)
    return isExact || look > COPIES_MAX_QUALITY ? undefined : 'outcome'
  },
  holds({ f, q, lossless, colors, maxbytes }, { format, pages }) {
    if (maxbytes !== undefined) return 'outcome'
    const [output] = outputsOf(f, format)
    const isPhoto = (format === 'jpeg' || PHOTO_FORMATS.has(format)) && hasQuality(output)
    const isPlain = q !== undefined || lossless || colors !== undefined
    return isPlain || isPhoto || pages > 1 ? undefined : 'outcome'
  },
  async transform(image, { f, q, lossless, colors, effort, maxbytes }, given) {
    const { source, pass } = given
    const isSmall = source.pages === 1 && source.width * source.height <= MOST_EFFORT_MAX_PIXELS
    const isMost = effort === 'max' && isSmall
    const options = isMost ? withMostEffort(given.options) : given.options
    const context = { ...given, options }
    const outputs = outputsOf(f, source.format)
    const { width, height, pages } = source
    const mostAvif = maxbytes === undefined ? AUTO_AVIF_MAX_PIXELS : SEARCH_MAX_PIXELS.avif
    // An animation is far faster to encode as WebP, and decodes everywhere.
    const isSecond = width * height > mostAvif || pages > 1
    const output = outputs[isSecond ? outputs.length - 1 : 0] ?? outputs[0]
    const from = qualityFor(output, { f, q, options })
    if (pages > 1 && output === 'avif')
      return asSequence(image, { quality: from, lossless: lossless === true }, context)
    if (maxbytes === undefined) {
      const { gainMap, ...facts } = source
      const isSame = !source.framed && pass.every((name) => SCALING.includes(name))
      const withMap = gainMap && isSame
      if (q !== undefined || lossless || colors !== undefined || withMap || source.keepsProfile) {
        const how = { quality: from, lossless, colours: colors, dither: true, options }
        const draft = encoded(image, output, how)
        return { draft, source: withMap ? source : facts }
      }
      if (pages > 1) return smallestAnimation(image, { output, quality: from, isAuto: isAuto(f) }, context)
      return smallest(
        image,
        {
          outputs: isAuto(f) && width * height <= SMALL_PIXELS ? smallOutputs(f, source.format) : [output],
          qualityOf: (each) => qualityOf(each, options),
          isAuto: isAuto(f),
        },
        context,
      )
    }
    return withinBytes(image, { output, from, lossless, maxBytes: maxbytes }, context)
  },
})
