import sharp, { type Sharp } from 'sharp'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { EachFrame, EngineContext, Opened } from '../../core/plugin-api/plugin.ts'
import { takesTooLong } from '../../core/transform-problems.ts'
import { rendering } from './failures.ts'
import type { Frames } from './sequences/write-avif.ts'
import type { ImageSource } from './source.ts'

/** Renders a draft so far, and returns a draft of the outcome. See `Engine.settle`. */
export async function newPass(
  opened: Opened<'sharp'>,
  context: EngineContext,
  each?: EachFrame<'sharp'>,
): Promise<Opened<'sharp'>> {
  if (opened.source.keepsProfile) return settledWithProfile(opened, context, each)
  if (each === undefined) return fromPixels(await pixelsOf(opened, context), opened.source, context)
  const before = await pixelsOf(opened, context)
  let after: Pixels | undefined
  const deadline = performance.now() + context.limits.timeoutMs
  for (const [i, frame] of framesOf(before, opened.source, context).entries()) {
    context.signal.throwIfAborted()
    if (performance.now() > deadline) throw takesTooLong('image')
    const draft = await each(frame.draft, frame.source)
    const changed = await pixelsOf({ draft, source: frame.source }, context)
    after ??= roomFor(changed, before)
    if (changed.data.length * after.pages !== after.data.length) {
      throw new Error('a plugin that changes each frame must return frames of the same size')
    }
    after.data.set(changed.data, i * changed.data.length)
  }
  return fromPixels(after ?? before, opened.source, context)
}

/** Renders a draft so far, and returns each frame separately. See `Engine.frames`. */
export async function eachFrame(
  opened: Opened<'sharp'>,
  context: EngineContext,
): Promise<Array<Opened<'sharp'>>> {
  return framesOf(await pixelsOf(opened, context), opened.source, context)
}

/** Sets the time limit of a draft. libvips checks it, encoders do not. */
export function timed(draft: Sharp, { timeoutMs }: Pick<TransformLimits, 'timeoutMs'>): Sharp {
  return draft.timeout({ seconds: Math.ceil(timeoutMs / 1000) })
}

/** A new pass for an image with a colour profile: through a file, since pixels alone would lose the profile. */
async function settledWithProfile(
  { draft, source }: Opened<'sharp'>,
  context: EngineContext,
  each?: EachFrame<'sharp'>,
): Promise<Opened<'sharp'>> {
  const { limits } = context
  const animated = source.pages > 1
  timed(draft, limits)
  const written = animated ? draft.webp({ lossless: true, effort: 0 }) : draft.png({ compressionLevel: 0 })
  const input = sharp(await rendering(() => written.toBuffer()), {
    animated,
    limitInputPixels: pixelsWithin(limits),
  })
  const { width, height, hasAlpha } = await input.metadata()
  const format = source.format === 'svg' ? 'png' : source.format
  const { framed: _, gainMap: __, file: ___, ...unframed } = source
  const known = { ...unframed, width, height, hasAlpha, format }
  if (each && animated) {
    // Separate frames are pixels in sRGB, which need no profile.
    const { keepsProfile: _, ...plain } = known
    return newPass({ draft: input, source: plain }, context, each)
  }
  const settled = { draft: input.keepIccProfile(), source: known }
  if (!each) return settled
  return settledWithProfile({ ...settled, draft: await each(settled.draft, known) }, context)
}

/** The pixels of an image. The frames of an animation are stacked vertically. */
interface Pixels {
  data: Buffer
  width: number
  /** Height of one frame. */
  height: number
  channels: Channels
  pages: number
}

type Channels = 1 | 2 | 3 | 4

// Renders the draft itself. A clone would copy its input bytes: for each frame, those of all frames.
async function pixelsOf({ draft }: Opened<'sharp'>, { limits }: EngineContext): Promise<Pixels> {
  const pixels = await rawPixels(timed(draft, limits))
  if (pixels.channels > 1) return pixels
  // For an image that was made grey, sharp returns one raw channel and drops the transparency, but a file preserves
  // it. Extracting the alpha channel is no solution, as a negative is computed after the extraction.
  const file = await rendering(() => draft.tiff({ compression: 'none' }).toBuffer())
  return rawPixels(sharp(file, { animated: true, limitInputPixels: pixelsWithin(limits) }))
}

/** The frames of an animation. */
export async function framesToWrite(opened: Opened<'sharp'>, context: EngineContext): Promise<Frames> {
  const { data, width, height, channels, pages } = await pixelsOf(opened, context)
  if (channels !== 3 && channels !== 4) throw new Error(`an animation has ${channels} channels`)
  return { data, width, height, channels, pages }
}

async function rawPixels(draft: Sharp): Promise<Pixels> {
  const { data, info } = await rendering(() => draft.raw().toBuffer({ resolveWithObject: true }))
  const { width, height, channels, pages = 1 } = info
  return { data, width, height: info.pageHeight ?? height, channels, pages }
}

/** Creates a draft from pixels. Other facts come from the source: the original's format, the duration of each frame. */
function fromPixels(
  { data, width, height, channels, pages }: Pixels,
  { framed: _, gainMap: __, file: ___, ...source }: ImageSource,
  { limits }: EngineContext,
): Opened<'sharp'> {
  const animated = pages > 1
  const raw = { width, height: height * pages, channels, ...(animated ? { pageHeight: height } : {}) }
  const draft = sharp(data, { raw, animated, limitInputPixels: pixelsWithin(limits) })
  return {
    // These options are set for all animation formats, and apply when one of them is chosen.
    draft: animated && source.timing ? draft.gif(source.timing) : draft,
    source: {
      ...source,
      width,
      height,
      pages,
      format: source.format === 'svg' ? 'png' : source.format,
      hasAlpha: channels === 2 || channels === 4,
    },
  }
}

/** Several steps may render an image larger than the source limit. Each step has checked its own output. */
function pixelsWithin({ sourceMaxPixels, outputMaxPixels }: TransformLimits): number {
  return Math.max(sourceMaxPixels, outputMaxPixels)
}

/** The frames share the bytes of all. */
function framesOf(
  { data, pages, ...size }: Pixels,
  { timing: _, ...source }: ImageSource,
  context: EngineContext,
): Array<Opened<'sharp'>> {
  const bytes = data.length / pages
  return Array.from({ length: pages }, (_, i) => {
    const frame = data.subarray(i * bytes, (i + 1) * bytes)
    return fromPixels({ data: frame, pages: 1, ...size }, source, context)
  })
}

/** Returns the buffer for all frames of this size. It reuses the existing one if they fit, which may have 200 MB. */
function roomFor({ data, ...size }: Pixels, { data: before, pages }: Pixels): Pixels {
  const bytes = data.length * pages
  return { ...size, pages, data: bytes === before.length ? before : Buffer.allocUnsafe(bytes) }
}
