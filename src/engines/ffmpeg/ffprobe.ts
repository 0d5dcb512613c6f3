import { z } from 'zod'
import { MAX_PROBE_LENGTH } from '../../core/bytes/asset.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import { Problem } from '../../core/problem.ts'
import { notDecodable, notTransformable } from '../../core/transform-problems.ts'
import type { Running } from '../programs/run.ts'
import { guardedInput, inputPath } from './input.ts'
import type { MediaFile } from './media-file.ts'
import { outputOf } from './process.ts'
import type { VideoSource } from './video-source.ts'

const number = z.coerce.number().positive().finite().optional().catch(undefined)

// ffprobe also prints `unknown` and `reserved`.
const nameIfKnown = z
  .string()
  .optional()
  .transform((name) => (name === 'unknown' || name === 'reserved' ? undefined : name))

const stream = z.object({
  index: z.number().int().nonnegative(),
  codec_type: z.string().optional(),
  codec_name: z.string().default('unknown'),
  width: number,
  height: number,
  duration: number,
  avg_frame_rate: z.string().default('0/0'),
  bit_rate: number,
  channels: number,
  sample_rate: number,
  pix_fmt: nameIfKnown,
  field_order: nameIfKnown,
  sample_aspect_ratio: z.string().optional(),
  color_space: nameIfKnown,
  color_transfer: nameIfKnown,
  color_primaries: nameIfKnown,
  disposition: z.object({ attached_pic: z.number() }).partial().default({}),
  tags: z.object({ alpha_mode: z.string(), ALPHA_MODE: z.string() }).partial().default({}),
  side_data_list: z.array(z.object({ rotation: z.number().optional().catch(undefined) })).default([]),
})
export type Stream = z.infer<typeof stream>

const output = z.object({
  streams: z.array(stream).default([]),
  format: z.object({ duration: number, bit_rate: number }).partial().default({}),
})

export type ProbedFile = Pick<MediaFile, 'path' | 'demuxer' | 'probe'>

/** The output of ffprobe, as far as it is used. */
export type Probed = z.infer<typeof output>

// Only the entries in use are printed: a crafted file has megabytes of tags.
const ENTRIES = [
  'format=duration,bit_rate',
  'stream=index,codec_type,codec_name,duration,bit_rate,channels,sample_rate,avg_frame_rate,pix_fmt,field_order',
  'stream=width,height,sample_aspect_ratio,color_space,color_transfer,color_primaries',
  'stream_disposition=attached_pic',
  'stream_tags=alpha_mode,ALPHA_MODE',
  'stream_side_data=rotation',
].join(':')
const MAX_OUTPUT_BYTES = 1_000_000
// The prefix of stored probe results. Results with another prefix have other entries, and are ignored.
const CACHE_PREFIX = `${sha256(ENTRIES).slice(0, 8)} `

/**
 * Reads the headers of a container and of its streams. The result is cached when the asset has a place for it:
 * ffprobe takes a quarter of the time of a frame, and most videos have several derivatives.
 *
 * @throws Problem 422 when it takes too long, 501 without ffprobe, Error with its last messages for an unreadable
 *   file
 */
export async function probe(
  { path, demuxer, probe: place }: ProbedFile,
  { maxPixels, ...running }: Running & { maxPixels: number },
): Promise<Probed> {
  if (place?.text?.startsWith(CACHE_PREFIX))
    return output.parse(JSON.parse(place.text.slice(CACHE_PREFIX.length)))
  const args = ['-v', 'error', ...guardedInput(demuxer, maxPixels)]
  const withInput = [...args, '-of', 'json', '-show_entries', ENTRIES, '-i', inputPath(path)]
  const text = await outputOf('ffprobe', withInput, { ...running, maxBytes: MAX_OUTPUT_BYTES })
  const probed = await withDuration(output.parse(JSON.parse(text)), { path, demuxer, maxPixels, ...running })
  const stored = `${CACHE_PREFIX}${JSON.stringify(probed)}`
  if (stored.length <= MAX_PROBE_LENGTH) await place?.keep(stored)
  return probed
}

// A search reads a recording once. Its duration is not worth more time.
const SEARCH_LIMIT_MS = 10_000
// After the end of any file: the search begins at the last packets.
const LATE_SECONDS = 1e7

/** Adds the duration that a file does not state, from its last packets: recordings of browsers have none in their header. */
async function withDuration(
  probed: Probed,
  { path, ...file }: Running & Pick<ProbedFile, 'path' | 'demuxer'> & { maxPixels: number },
): Promise<Probed> {
  const stream = videoStreamOf(probed) ?? audioStreamOf(probed)
  const isStated = [probed.format, ...probed.streams].some(({ duration }) => duration !== undefined)
  if (!stream || isStated) return probed
  const timeoutMs = Math.min(file.timeoutMs, SEARCH_LIMIT_MS)
  const searching = { ...file, timeoutMs, stream: stream.index, from: LATE_SECONDS }
  const duration = await lastShownUntil(path, searching).catch(() => undefined)
  file.signal.throwIfAborted()
  if (duration === undefined || duration <= 0 || !Number.isFinite(duration)) return probed
  return { ...probed, format: { ...probed.format, duration } }
}

/** The video stream. An attached picture is a cover, not a frame of the video. */
export function videoStreamOf({ streams }: Probed): Stream | undefined {
  return streams.find((one) => one.codec_type === 'video' && !one.disposition.attached_pic)
}

/** The audio stream. */
export function audioStreamOf({ streams }: Probed): Stream | undefined {
  return streams.find(({ codec_type }) => codec_type === 'audio')
}

/**
 * The displayed size, upright and with square pixels, and the rotation of the stored frames; undefined when the
 * header has no size.
 */
export function shownSize(video: Stream): Pick<VideoSource, 'width' | 'height' | 'rotation'> | undefined {
  if (video.width === undefined || video.height === undefined) return undefined
  const rotation = rotationOf(video)
  const [across, down] = [Math.max(1, Math.round(video.width * pixelRatio(video))), video.height]
  const [width, height] = rotation % 180 === 0 ? [across, down] : [down, across]
  return { width, height, rotation }
}

// Each frame is a line of 40 bytes: half an hour of them.
const MAX_FRAMES_BYTES = 2_000_000

/**
 * The end of the last frame of a stream, in seconds from the start; infinity when the file does not state it. A
 * truncated file ends earlier than its header states.
 *
 * @param options.from start of the search, in seconds
 * @throws Problem 422, 501
 */
export async function lastShownUntil(
  path: string,
  options: Running & { demuxer: string; maxPixels: number; stream: number; from: number },
): Promise<number> {
  const { demuxer, maxPixels, stream, from, ...running } = options
  const frames = ['-select_streams', String(stream), '-read_intervals', `${from}%`]
  const entries = ['-of', 'csv', '-show_entries', 'format=start_time:packet=pts_time,duration_time']
  const args = [
    '-v',
    'error',
    ...guardedInput(demuxer, maxPixels),
    ...frames,
    ...entries,
    '-i',
    inputPath(path),
  ]
  const text = await outputOf('ffprobe', args, { ...running, maxBytes: MAX_FRAMES_BYTES }).catch((cause) => {
    running.signal.throwIfAborted()
    throw cause instanceof Problem ? cause : undecodable(cause, maxPixels)
  })
  let start = 0
  let until = 0
  for (const line of text.split('\n')) {
    const [section, first = '', second = ''] = line.split(',')
    if (section === 'format') start = Number.parseFloat(first) || 0
    if (section !== 'packet') continue
    const end = Number.parseFloat(first) + Number.parseFloat(second)
    if (Number.isNaN(end)) return Number.POSITIVE_INFINITY
    until = Math.max(until, end)
  }
  return until - start
}

/** ffprobe counts counter-clockwise, and prints -90 for a frame that must be turned to the right. */
function rotationOf({ side_data_list }: Stream): VideoSource['rotation'] {
  const degrees = side_data_list.find(({ rotation }) => rotation !== undefined)?.rotation ?? 0
  const quarters = ((Math.round(-degrees / 90) % 4) + 4) % 4
  return ([0, 90, 180, 270] as const)[quarters] ?? 0
}

/** The displayed width of a stored pixel, divided by its height. */
export function pixelRatio({ sample_aspect_ratio = '' }: Stream): number {
  const [width = 0, height = 0] = sample_aspect_ratio.split(':').map(Number)
  return width > 0 && height > 0 ? width / height : 1
}

/** Problem 422. The messages of ffmpeg go to the log only. */
export function undecodable(cause: unknown, maxPixels: number): Problem {
  const words = cause instanceof Error ? cause.message : ''
  if (/exceeds specified max pixel count/.test(words)) return tooManyPixels(maxPixels, cause)
  return notDecodable('expected a video that can be decoded but this one cannot', cause)
}

/** Problem 422: the frames are too large, by the header of the file or of the stream. */
export function tooManyPixels(maxPixels: number, cause?: unknown): Problem {
  const expected = `expected a video of at most ${maxPixels} pixels a frame to transform`
  return notTransformable(`${expected} but this one has more`, cause)
}
