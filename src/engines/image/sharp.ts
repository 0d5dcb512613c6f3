import sharp, { type Sharp } from 'sharp'
import { type Asset, assetFromBytes, type FullImage, readAll } from '../../core/bytes/asset.ts'
import { knownFormat } from '../../core/media/formats.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { Engine, EngineContext, Opened } from '../../core/plugin-api/plugin.ts'
import { type Running, runningOf } from '../programs/run.ts'
import { completedPng, isPng } from './completed-png.ts'
import { type DecodedImage, decoded } from './decoders/decoders.ts'
import { excerptOf } from './excerpts/excerpt.ts'
import { decoding, rendering } from './failures.ts'
import { forecastImage } from './forecast.ts'
import { MAPPED_FORMATS, readGainMap, withGainMap } from './gain-map/gain-map.ts'
import { failOn, headerIn, headerOf, type ImageHeader, inputOf } from './header.ts'
import { eachFrame, framesToWrite, newPass, timed } from './passes.ts'
import {
  checkBytes,
  checkComplete,
  checkHeld,
  checkPage,
  checkPixels,
  checkSvg,
  hasExtraChannels,
} from './pixel-limits.ts'
import { openFrames } from './sequences/frames.ts'
import { writeAvif } from './sequences/write-avif.ts'
import {
  describe,
  fileOf,
  formatName,
  type ImageOpening,
  type ImageSource,
  type SequenceEncoding,
  type SourceFile,
} from './source.ts'
import { checkSvgSize, densityWithin } from './svg/size.ts'
import { withoutMetadata } from './without-metadata.ts'

// One thread per image: many images at once, one per core, are far faster than one image on all cores, and memory
// stays flat. The operation cache would only hold images that are not requested again.
sharp.concurrency(1)
sharp.cache(false)
// For photos with a gain map, libvips has a second reader of JPEG. It prints parts of broken descriptions to stdout, between the
// lines of the log. Its pixels are the same, and gain maps are read without it.
sharp.block({ operation: ['VipsForeignLoadUhdr'] })

/** Creates the image engine, based on libvips. @param options.env the complete environment of programs that decode images */
export function createSharpEngine({ env }: Pick<Running, 'env'>): Engine<'sharp'> {
  const engine: Engine<'sharp'> = {
    name: 'sharp',
    media: ['image'],

    forecast: forecastImage,

    async open(asset, opening, context) {
      const { signal, limits } = context
      const { frames = 'all', profile = 'srgb', upright = false, gainMap = 'ignore' } = opening
      // A copy has only the page that it is of.
      const { page = 1 } = asset.copyOf ? {} : opening
      const excerpt = await excerptOf(asset, signal)
      if (excerpt) return engine.open(excerpt, opening, context)
      checkBytes(asset, limits)
      checkComplete(asset, limits)
      const other = await decoded(asset, { page, frames, gainMap }, { ...context, env })
      if (other?.timing) return openFrames(other, opening, context)
      if (other) return openDecoded(engine, other, opening, context)
      const input = await inputOf(asset, signal)
      const svg = /^image\/svg\+xml/.test(asset.mediaType) && typeof input !== 'string' ? input : undefined
      if (svg) await checkSvg(svg, limits)
      let header = await headerOf(asset, input)
      if (svg) await checkSvgSize(svg, header)
      // It is drawn again in the requested size.
      const isFitted = svg && opening.fitted && !opening.inOwnPixels
      const density = isFitted ? densityWithin(header, limits) : undefined
      if (density !== undefined) header = await decoding(() => headerIn(input, { density }))
      if (page > 1) {
        checkPage(page, header)
        // The pages of a TIFF may differ in size.
        header = await decoding(() => headerIn(input, { page }))
      }
      // The header of a TIFF does not tell. Only smaller copies are such files.
      const mayHaveMap = header.hasGainMap || (asset.copyOf !== undefined && header.format === 'tiff')
      const map = gainMap === 'keep' && mayHaveMap ? await readGainMap(input, header) : undefined
      const facts = describe(header, { frames, upright, profile })
      // A smaller copy is described as the image that it replaces.
      const file = page > 1 ? undefined : fileWithPlain(header, asset, signal)
      const source = { ...facts, file, ...replacedBy(asset), ...(map ? { gainMap: map } : {}) }
      // Judged by the header alone: nothing has been decoded yet.
      checkPixels(source, limits)
      checkHeld(header, source, limits)
      const isCompleted = asset.truncated && typeof input !== 'string' && isPng(input)
      const draft = sharp(isCompleted ? await completedPng(input, signal) : input, {
        ...(page > 1 ? { page: page - 1 } : { animated: source.pages > 1 }),
        ...(density !== undefined ? { density } : {}),
        autoOrient: upright,
        failOn: isCompleted ? 'error' : failOn(asset),
        limitInputPixels: limits.sourceMaxPixels,
      })
      // When a decoder shrinks an image to less than twice the size of the output, detail is lost and moves by up to half a
      // pixel: SSIM 0.94 to 0.99 compared with a full decode, for 10 % of the time. A copy has lost some detail before.
      if (asset.copyOf) draft.resize({ fastShrinkOnLoad: false })
      // sharp converts 16 bits per channel to P3, and would omit the profile: colours would be pale, of sRGB sources
      // too.
      if (header.hasProfile && header.space === 'rgb16' && !source.keepsProfile) {
        draft.withIccProfile('srgb', { attach: false })
      }
      if (!hasExtraChannels(header)) return { draft: withProfile(draft, source), source }
      return coloursOf(withProfile(draft, source), source, limits)
    },

    async render(draft, context, source) {
      const { limits } = context
      if (source?.encoded) {
        const { mediaType } = knownFormat(source.format)
        return assetFromBytes(source.encoded, { mediaType, lastModified: new Date() })
      }
      if (source?.sequence) return sequenceOf({ draft, source }, source.sequence, { ...context, env })
      const { data, info } = await rendering(() => timed(draft, limits).toBuffer({ resolveWithObject: true }))
      const format = knownFormat(formatName(info.format))
      const bytes =
        source?.gainMap && MAPPED_FORMATS.has(format.name)
          ? await withGainMap(data, source.gainMap, {
              size: info,
              format: format.name,
              isDisplayP3: source.keepsProfile === true,
              limits,
            })
          : data
      return assetFromBytes(bytes, { mediaType: format.mediaType, lastModified: new Date() })
    },

    settle: newPass,

    frames: eachFrame,

    async verify(asset, opening, context) {
      // Verifies the bytes: a file that has been deleted would look broken.
      const { file: _, ...inBytes } = asset
      const { draft } = await engine.open(inBytes, opening, context)
      // An output of one pixel: each source pixel is decoded, and none is held in memory.
      const all = timed(draft, context.limits).resize(1, 1, { fit: 'fill', fastShrinkOnLoad: false }).raw()
      await decoding(() => rendering(() => all.toBuffer()))
    },
  }
  return engine
}

/** Opens an image, or one page of a document, that another decoder has decoded. Its bytes are pixels, so only their number is limited. */
async function openDecoded(
  engine: Engine<'sharp'>,
  { picture, format, gainMap }: DecodedImage,
  { page: _, ...opening }: Partial<ImageOpening>,
  context: EngineContext,
): Promise<Opened<'sharp'>> {
  const limits = { ...context.limits, sourceMaxBytes: picture.size }
  const { draft, source } = await engine.open(picture, opening, { ...context, limits })
  return { draft, source: { ...source, format, ...(gainMap ? { gainMap } : {}) } }
}

function fileWithPlain(header: ImageHeader, asset: Asset, signal: AbortSignal): SourceFile {
  const file = fileOf(header, asset)
  const isPlain = header.isSrgb && header.depth === 'uchar' && (header.orientation ?? 1) === 1
  if (!isPlain || asset.truncated) return file
  return {
    ...file,
    plain: async () => withoutMetadata(formatName(header.format), await readAll(asset, signal)),
  }
}

/** An animation as AVIF. */
async function sequenceOf(
  opened: Opened<'sharp'>,
  encoding: SequenceEncoding,
  context: EngineContext & Pick<Running, 'env'>,
): Promise<Asset> {
  const { limits, signal, env, spent } = context
  const bytes = await writeAvif(await framesToWrite(opened, context), {
    timing: opened.source.timing ?? { delay: [], loop: 0 },
    encoding,
    programs: runningOf(limits, { signal, env, spent }),
    cores: limits.cores,
  })
  return assetFromBytes(bytes, { mediaType: 'image/avif', lastModified: new Date() })
}

/** The facts about the image that a smaller copy replaces, where they differ from its own. */
function replacedBy({ copyOf }: Asset): Partial<FullImage> {
  if (!copyOf) return {}
  const { isBound, ...full } = copyOf
  return isBound ? { format: full.format } : full
}

/** Removes all other channels than the colours: sharp cannot flatten an image of more than four channels. */
async function coloursOf(
  draft: Sharp,
  source: ImageSource,
  limits: TransformLimits,
): Promise<Opened<'sharp'>> {
  const colours = timed(draft, limits).removeAlpha().png({ compressionLevel: 0 })
  const bytes = await decoding(() => rendering(() => colours.toBuffer()))
  const first = sharp(bytes, { limitInputPixels: limits.sourceMaxPixels })
  return { draft: withProfile(first, source), source: { ...source, hasAlpha: false } }
}

function withProfile(draft: Sharp, { keepsProfile }: ImageSource): Sharp {
  return keepsProfile ? draft.keepIccProfile() : draft
}
