import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { notTransformable } from '../../core/transform-problems.ts'
import { guardedInput, inputPath } from '../ffmpeg/input.ts'
import type { VideoContainer, VideoDraft } from '../ffmpeg/video-source.ts'
import { decoderArguments, flattened } from './alpha.ts'
import { type CopiedStreams, encodedAudio, mostKbits } from './streams.ts'
import { toneMapping } from './tone-mapping.ts'
import { WRITERS } from './writers.ts'

/** A size in pixels. */
export interface Size {
  width: number
  height: number
}

// Limit of the shorter side.
const AUTOMATIC_SIDE = 720
// From this height on, a video without a colour matrix is assumed to be BT.709, as in browsers.
const HD_HEIGHT = 720
// Limit of queued packets while one stream lags behind, such as audio that begins late. ffmpeg's default of 128 is
// too low for some files.
export const MUXING_PACKETS = 4096

// Up to this size a frame needs little memory: 1080p.
const SMALL_FRAME_PIXELS = 2_100_000
// Limit for all threads together, since each thread holds frames: four frames of 4K.
const FRAMES_AT_ONCE_PIXELS = 36_000_000
// The limit of level 5.2 of H.264, which players can decode: 4096 x 2304. An encoder holds tens of frames.
const OUTCOME_MAX_PIXELS = 9_437_184

interface TranscodeOptions {
  /** The container of the output. */
  container: VideoContainer
  target: string
  limits: TransformLimits
  /** Whether HDR can be converted for a standard screen. */
  canToneMap: boolean
  /** The streams that are not encoded again. Default: none. */
  copied?: CopiedStreams
}

/**
 * The arguments with which ffmpeg renders a draft in one run, into the file `target`. Progress lines go to its
 * standard output.
 */
export function transcodeArguments(
  draft: VideoDraft,
  { container, target, limits, canToneMap, copied = { video: false, audio: false } }: TranscodeOptions,
): string[] {
  const { source } = draft.input
  const { video, audio, muxer } = WRITERS[container]
  const outcome = outcomeSize(draft)
  const kbits = mostKbits(draft, { codec: video.codec, outcome })
  const sound = encodedAudio(draft)
  const keepsAlpha = container === 'webm' && source.alphaDecoder !== undefined
  return [
    ...sourceArguments(draft, limits),
    ...['-map', `0:${source.stream}`, ...(draft.isMute ? ['-an'] : ['-map', '0:a:0?'])],
    ...(copied.video
      ? ['-c:v', 'copy', ...(keepsAlpha ? ['-metadata:s:v:0', 'alpha_mode=1'] : [])]
      : [
          ...['-vf', filters(draft, canToneMap, { keepsAlpha }).join(','), ...keyFrames(draft)],
          // Each frame has its own time: a constant rate would turn a few frames into a thousand per second.
          ...['-vsync', 'vfr'],
          ...video.encoder({ isHigh: (draft.quality ?? 'high') === 'high', kbits }),
          ...threadsFor(outcome, limits),
          ...OUTCOME_COLOURS,
        ]),
    ...(copied.audio
      ? ['-c:a', 'copy']
      : ['-c:a', audio, '-ac', String(sound.channels), '-b:a', `${sound.kbits}k`]),
    ...[...muxer, '-f', container],
    ...['-max_muxing_queue_size', String(MUXING_PACKETS), '-fs', String(limits.outputMaxBytes), '-y', target],
  ]
}

/** The arguments for progress, limits and the requested part of the source. */
export function sourceArguments(
  { input, startSeconds = 0, endSeconds }: VideoDraft,
  limits: TransformLimits,
): string[] {
  const { timeoutMs, sourceMaxPixels, cores } = limits
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-nostats', '-progress', 'pipe:1'],
    // In seconds of CPU time: ffmpeg ends itself when its parent no longer can.
    ...['-timelimit', String(Math.ceil((timeoutMs / 1000) * cores))],
    ...threadsFor(input.source, limits),
    ...guardedInput(input.demuxer, sourceMaxPixels),
    ...decoderArguments(input.source),
    ...(startSeconds > 0 ? ['-ss', String(startSeconds)] : []),
    ...['-i', inputPath(input.path)],
    ...(endSeconds === undefined ? [] : ['-t', String(endSeconds - startSeconds)]),
    ...['-filter_threads', String(cores), '-filter_complex_threads', String(cores)],
    // For privacy: place and author of the recording are not delivered.
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'],
  ]
}

/** Declares the colours that {@link filters} writes. */
export const OUTCOME_COLOURS: readonly string[] = [
  ...['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
]

/** The size of the output, in pixels: both sides are even, as most players need it. */
export function outcomeSize(draft: VideoDraft): Size {
  const cropped = croppedSizeOf(draft)
  const { maxWidth, maxHeight } = boxOf(draft, cropped)
  const factor = Math.min(1, maxWidth / cropped.width, maxHeight / cropped.height)
  return {
    width: evenSide(cropped.width * factor, Math.min(draft.input.source.width, maxWidth)),
    height: evenSide(cropped.height * factor, Math.min(draft.input.source.height, maxHeight)),
  }
}

/** @throws Problem 422 when frames of the output would be larger than players can decode */
export function checkOutcomeSize(draft: VideoDraft): void {
  const { width, height } = outcomeSize(draft)
  if (width * height <= OUTCOME_MAX_PIXELS) return
  throw notTransformable(
    `expected a video of at most ${OUTCOME_MAX_PIXELS} pixels a frame after the transformation but the output would have ${width * height}. Request a smaller size.`,
  )
}

/**
 * Uses fewer threads for large frames. By itself, ffmpeg has threads for all cores of the machine, also for those beyond the CPU quota
 * of a container.
 */
export function threadsFor({ width, height }: Size, { cores }: Pick<TransformLimits, 'cores'>): string[] {
  const pixels = width * height
  const most = pixels <= SMALL_FRAME_PIXELS ? cores : Math.max(1, Math.floor(FRAMES_AT_ONCE_PIXELS / pixels))
  return ['-threads', String(Math.min(most, cores))]
}

/** The duration of the output in seconds; undefined when the source does not state it. */
export function outcomeSeconds({ input, startSeconds = 0, endSeconds }: VideoDraft): number | undefined {
  const { durationSeconds = endSeconds } = input.source
  if (durationSeconds === undefined) return undefined
  return Math.min(durationSeconds, endSeconds ?? durationSeconds) - startSeconds
}

/** The displayed size of the cropped part of a frame. */
export function croppedSizeOf({ aspectRatio, input }: VideoDraft): Size {
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

/** The nearest even number of pixels that does not exceed `most`. */
function evenSide(side: number, most: number): number {
  return Math.max(2, Math.min(2 * Math.round(side / 2), 2 * Math.floor(most / 2)))
}

/**
 * Crops and scales to square pixels in BT.709, which every player supports. ffmpeg has applied the rotation already. Transparent
 * parts become white, unless the output keeps them.
 */
export function filters(
  draft: VideoDraft,
  canToneMap: boolean,
  { keepsAlpha = false }: { keepsAlpha?: boolean } = {},
): string[] {
  const { colorMatrix, ...shown } = draft.input.source
  const cropped = croppedSizeOf(draft)
  // Before the scaling, pixels may not be square, so the crop is a fraction of each side.
  const [across, down] = [cropped.width / shown.width, cropped.height / shown.height]
  const isHd = Math.min(shown.width, shown.height) >= HD_HEIGHT
  const matrix = colorMatrix === undefined && isHd ? ':in_color_matrix=bt709' : ''
  const { width, height } = outcomeSize(draft)
  const cut = across < 1 || down < 1 ? [`crop=iw*${across.toFixed(6)}:ih*${down.toFixed(6)}`] : []
  const mapped = canToneMap ? toneMapping(draft.input.source) : []
  // The lines of two moments would be visible as combs.
  const whole = [
    ...(draft.input.source.isInterlaced ? ['yadif=deint=interlaced'] : []),
    ...(keepsAlpha ? [] : flattened(draft.input.source, `${width}x${height}`)),
  ]
  // As floats, a frame needs eight times the memory, so it is scaled first.
  if (mapped.length > 0)
    return [...whole, ...cut, `scale=w=${width}:h=${height}`, 'setsar=1', ...mapped, 'format=yuv420p']
  return [
    ...whole,
    ...cut,
    `scale=w=${width}:h=${height}${matrix}:out_color_matrix=bt709:out_range=tv`,
    'setsar=1',
    keepsAlpha ? 'format=yuva420p' : 'format=yuv420p',
  ]
}

/**
 * Times are those of the output. Scene changes create no additional key frames: programs that cut the file rely on
 * these.
 */
function keyFrames({ keyFrames }: VideoDraft): string[] {
  if (keyFrames === undefined) return []
  const [expression, atMost] =
    keyFrames === 'boosted'
      ? // Every 0.5 s up to the eleventh, at 5 s, then every 2 s. At most 240 frames are between two key frames: 2 s of 120 per second.
        ['if(lt(n_forced,11),gte(t,n_forced*0.5),gte(t,5+(n_forced-10)*2))', 240]
      : [`not(mod(n,${keyFrames.everyFrames}))`, keyFrames.everyFrames]
  return ['-force_key_frames', `expr:${expression}`, '-g', String(atMost), '-sc_threshold', '0']
}
