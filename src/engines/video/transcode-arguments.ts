import { availableParallelism } from 'node:os'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { notTransformable } from '../../core/transform-problems.ts'
import { guardedInput, inputPath } from '../ffmpeg/input.ts'
import type { VideoContainer, VideoDraft } from '../ffmpeg/video-source.ts'
import { toneMapping } from './tone-mapping.ts'

/** A size in pixels. */
export interface Size {
  width: number
  height: number
}

// By the shorter side.
const AUTOMATIC_SIDE = 720
// Colours of what does not say how they are stored: BT.709 from this height on, as browsers have it.
const HD_HEIGHT = 720
// Of one stream that the others are ahead of: sound that begins late, for one. The default, 128, is too few for some.
export const MUXING_PACKETS = 4096
export const SOUND_KBITS = 128

// Up to this size a frame costs little memory: 1080p.
const SMALL_FRAME_PIXELS = 2_100_000
// Of all threads together, each of which holds frames of its own: four of 4K.
const FRAMES_AT_ONCE_PIXELS = 36_000_000
// What level 5.2 of H.264 allows, which players decode: 4096 x 2304. An encoder holds tens of frames.
const OUTCOME_MAX_PIXELS = 9_437_184

interface TranscodeOptions {
  /** Of the outcome. */
  container: VideoContainer
  target: string
  limits: TransformLimits
  /** Whether HDR can be made what a usual screen shows. */
  canToneMap: boolean
}

/**
 * The arguments with which ffmpeg makes all that a draft asks for, in one run, into the file `target`. The lines of its
 * progress go to its standard output.
 */
export function transcodeArguments(
  draft: VideoDraft,
  { container, target, limits, canToneMap }: TranscodeOptions,
): string[] {
  const { source } = draft.input
  return [
    ...sourceArguments(draft, limits),
    ...['-map', `0:${source.stream}`, ...(draft.isMute ? ['-an'] : ['-map', '0:a:0?', '-ac', '2'])],
    ...['-vf', filters(draft, canToneMap).join(','), ...keyFrames(draft)],
    // Each at its own moment: a constant rate would make a thousand frames a second of a few.
    ...['-vsync', 'vfr'],
    ...encoders(container, draft.quality ?? 'high'),
    ...threadsFor(outcomeSize(draft)),
    ...OUTCOME_COLOURS,
    ...['-max_muxing_queue_size', String(MUXING_PACKETS), '-fs', String(limits.outputMaxBytes), '-y', target],
  ]
}

/** How ffmpeg tells of its progress, which file it reads, safely, and what of it. */
export function sourceArguments(
  { input, startSeconds = 0, endSeconds }: VideoDraft,
  { timeoutMs, sourceMaxPixels }: TransformLimits,
): string[] {
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-nostats', '-progress', 'pipe:1'],
    // In seconds of a core: it ends itself, should nobody be left to end it.
    ...['-timelimit', String(Math.ceil((timeoutMs / 1000) * availableParallelism()))],
    ...threadsFor(input.source),
    ...guardedInput(input.demuxer, sourceMaxPixels),
    ...(startSeconds > 0 ? ['-ss', String(startSeconds)] : []),
    ...['-i', inputPath(input.path)],
    ...(endSeconds === undefined ? [] : ['-t', String(endSeconds - startSeconds)]),
    // Where it was filmed, and by whom, is nobody's business.
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'],
  ]
}

/** What {@link filters} makes of all colours. */
export const OUTCOME_COLOURS: readonly string[] = [
  ...['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
]

/** What comes of a draft, in pixels: both sides even, as most players need it. */
export function outcomeSize(draft: VideoDraft): Size {
  const kept = keptOf(draft)
  const { maxWidth, maxHeight } = boxOf(draft, kept)
  const factor = Math.min(1, maxWidth / kept.width, maxHeight / kept.height)
  return {
    width: evenSide(kept.width * factor, Math.min(draft.input.source.width, maxWidth)),
    height: evenSide(kept.height * factor, Math.min(draft.input.source.height, maxHeight)),
  }
}

/** @throws Problem 422 for an outcome of larger frames than players decode */
export function checkOutcomeSize(draft: VideoDraft): void {
  const { width, height } = outcomeSize(draft)
  if (width * height <= OUTCOME_MAX_PIXELS) return
  throw notTransformable(
    `expected a video of at most ${OUTCOME_MAX_PIXELS} pixels a frame after the transformation but the output would have ${width * height}. Request a smaller size.`,
  )
}

/** Fewer threads for large frames. */
function threadsFor({ width, height }: Size): string[] {
  const pixels = width * height
  if (pixels <= SMALL_FRAME_PIXELS) return []
  const most = Math.max(1, Math.floor(FRAMES_AT_ONCE_PIXELS / pixels))
  return ['-threads', String(Math.min(most, availableParallelism()))]
}

/** How long the outcome will be, in seconds; undefined where the source does not say. */
export function outcomeSeconds({ input, startSeconds = 0, endSeconds }: VideoDraft): number | undefined {
  const { durationSeconds = endSeconds } = input.source
  if (durationSeconds === undefined) return undefined
  return Math.min(durationSeconds, endSeconds ?? durationSeconds) - startSeconds
}

/** What of a frame is kept, as it is shown. */
export function keptOf({ aspectRatio, input }: VideoDraft): Size {
  const { width, height } = input.source
  if (aspectRatio === undefined) return { width, height }
  return { width: Math.min(width, height * aspectRatio), height: Math.min(height, width / aspectRatio) }
}

function boxOf({ maxWidth, maxHeight, quality }: VideoDraft, { width, height }: Size) {
  if (maxWidth !== undefined || maxHeight !== undefined || quality !== 'automatic')
    return {
      maxWidth: maxWidth ?? Number.POSITIVE_INFINITY,
      maxHeight: maxHeight ?? Number.POSITIVE_INFINITY,
    }
  const [shorter, longer] = [AUTOMATIC_SIDE, Number.POSITIVE_INFINITY]
  return width < height ? { maxWidth: shorter, maxHeight: longer } : { maxWidth: longer, maxHeight: shorter }
}

/** The nearest even number of pixels that is not beyond `most`. */
function evenSide(side: number, most: number): number {
  return Math.max(2, Math.min(2 * Math.round(side / 2), 2 * Math.floor(most / 2)))
}

/** The part that is kept, in square pixels and BT.709, as every player takes it. ffmpeg has turned it upright by then. */
export function filters(draft: VideoDraft, canToneMap: boolean): string[] {
  const { colorMatrix, ...shown } = draft.input.source
  const kept = keptOf(draft)
  // Its pixels may not be square before they are scaled: a part of a side is the same part of both.
  const [across, down] = [kept.width / shown.width, kept.height / shown.height]
  const isHd = Math.min(shown.width, shown.height) >= HD_HEIGHT
  const matrix = colorMatrix === undefined && isHd ? ':in_color_matrix=bt709' : ''
  const { width, height } = outcomeSize(draft)
  const cut = across < 1 || down < 1 ? [`crop=iw*${across.toFixed(6)}:ih*${down.toFixed(6)}`] : []
  const mapped = canToneMap ? toneMapping(draft.input.source) : []
  // As floats, a frame takes eight times the memory: once it is small.
  if (mapped.length > 0)
    return [...cut, `scale=w=${width}:h=${height}`, 'setsar=1', ...mapped, 'format=yuv420p']
  return [
    ...cut,
    `scale=w=${width}:h=${height}${matrix}:out_color_matrix=bt709:out_range=tv`,
    'setsar=1',
    'format=yuv420p',
  ]
}

/** Times are of the outcome. A scene that changes begins none of its own then: whoever cuts the file relies on these. */
function keyFrames({ keyFrames }: VideoDraft): string[] {
  if (keyFrames === undefined) return []
  const [expression, atMost] =
    keyFrames === 'boosted'
      ? // Every 0.5 s up to the eleventh, at 5 s, then every 2 s: at most 120 frames a second lie between.
        ['if(lt(n_forced,11),gte(t,n_forced*0.5),gte(t,5+(n_forced-10)*2))', 240]
      : [`not(mod(n,${keyFrames.everyFrames}))`, keyFrames.everyFrames]
  return ['-force_key_frames', `expr:${expression}`, '-g', String(atMost), '-sc_threshold', '0']
}

type Quality = NonNullable<VideoDraft['quality']>

/**
 * The encoders of each container, what every player of it knows. Rates follow the pictures (a constant quality), with a
 * bound that a usual connection can stream.
 */
function encoders(container: VideoContainer, quality: Quality): string[] {
  const sound = (encoder: string) => ['-c:a', encoder, '-b:a', `${SOUND_KBITS}k`]
  const isHigh = quality === 'high'
  switch (container) {
    case 'mp4':
    case 'mov':
      return [
        // Half as large a file as with `ultrafast`, in twice the time; the slower ones gain a tenth.
        ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', isHigh ? '20' : '23'],
        ...(isHigh ? [] : ['-maxrate', '4M', '-bufsize', '8M']),
        ...sound('aac'),
        // A player needs the index first.
        ...['-movflags', '+faststart', '-f', container],
      ]
    case 'webm':
      return [
        // As fast as it gets: the best of its other modes takes ten times as long.
        ...['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '6', '-row-mt', '1'],
        ...['-crf', isHigh ? '28' : '33', '-b:v', isHigh ? '0' : '3M'],
        ...sound('libopus'),
        ...['-f', 'webm'],
      ]
    case 'avi':
      return [
        ...['-c:v', 'mpeg4', '-vtag', 'XVID', '-q:v', isHigh ? '3' : '5'],
        ...sound('libmp3lame'),
        ...['-f', 'avi'],
      ]
  }
}
