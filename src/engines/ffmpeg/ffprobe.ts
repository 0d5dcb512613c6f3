import { z } from 'zod'
import { MAX_PROBE_LENGTH } from '../../core/bytes/asset.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import { Problem } from '../../core/problem.ts'
import { notDecodable, notTransformable } from '../../core/transform-problems.ts'
import { guardedInput, inputPath } from './input.ts'
import type { MediaFile } from './media-file.ts'
import { outputOf, type Running } from './process.ts'
import type { VideoSource } from './video-source.ts'

const number = z.coerce.number().positive().finite().optional().catch(undefined)

// `unknown` and `reserved` are said as well.
const said = z
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
  channels: number,
  sample_rate: number,
  sample_aspect_ratio: z.string().optional(),
  color_space: said,
  color_transfer: said,
  color_primaries: said,
  disposition: z.object({ attached_pic: z.number() }).partial().default({}),
  side_data_list: z.array(z.object({ rotation: z.number().optional().catch(undefined) })).default([]),
})
type Stream = z.infer<typeof stream>

const output = z.object({
  streams: z.array(stream).default([]),
  format: z.object({ duration: number, bit_rate: number }).partial().default({}),
})

type ProbedFile = Pick<MediaFile, 'path' | 'demuxer' | 'probe'>

/** What ffprobe has printed, as far as it is used. */
export type Probed = z.infer<typeof output>

// Nothing but what is used is printed: a crafted file has megabytes of tags.
const ENTRIES = [
  'format=duration,bit_rate',
  'stream=index,codec_type,codec_name,duration,channels,sample_rate,avg_frame_rate',
  'stream=width,height,sample_aspect_ratio,color_space,color_transfer,color_primaries',
  'stream_disposition=attached_pic',
  'stream_side_data=rotation',
].join(':')
const MAX_OUTPUT_BYTES = 1_000_000
// What is kept begins with this: what was kept of other entries is of no use.
const KEPT = `${sha256(ENTRIES).slice(0, 8)} `

/**
 * What the headers of a container and of its streams say. It is kept where there is a place for it: ffprobe takes a quarter
 * of the time of a frame, and most videos have several made of them.
 *
 * @throws Problem 422 for what takes too long, 501 where ffprobe is missing, Error with its last words for what it cannot
 * read
 */
export async function probe(
  { path, demuxer, probe: place }: ProbedFile,
  { maxPixels, ...running }: Running & { maxPixels: number },
): Promise<Probed> {
  if (place?.text?.startsWith(KEPT)) return output.parse(JSON.parse(place.text.slice(KEPT.length)))
  const args = ['-v', 'error', ...guardedInput(demuxer, maxPixels)]
  const asked = [...args, '-of', 'json', '-show_entries', ENTRIES, '-i', inputPath(path)]
  const text = await outputOf('ffprobe', asked, { ...running, maxBytes: MAX_OUTPUT_BYTES })
  const probed = output.parse(JSON.parse(text))
  const kept = `${KEPT}${JSON.stringify(probed)}`
  if (kept.length <= MAX_PROBE_LENGTH) await place?.keep(kept)
  return probed
}

/** The stream with the pictures. One that is attached is a cover, not a moment. */
export function videoOf({ streams }: Probed): Stream | undefined {
  return streams.find((one) => one.codec_type === 'video' && !one.disposition.attached_pic)
}

/** The stream that is heard. */
export function soundOf({ streams }: Probed): Stream | undefined {
  return streams.find(({ codec_type }) => codec_type === 'audio')
}

/** How large pictures are shown, in square pixels, and what it takes to turn them upright; none where nothing says so. */
export function shownSize(video: Stream): Pick<VideoSource, 'width' | 'height' | 'rotation'> | undefined {
  if (video.width === undefined || video.height === undefined) return undefined
  const rotation = rotationOf(video)
  const [across, down] = [Math.max(1, Math.round(video.width * pixelRatio(video))), video.height]
  const [width, height] = rotation % 180 === 0 ? [across, down] : [down, across]
  return { width, height, rotation }
}

/**
 * What is known of a video.
 *
 * @throws Problem 422 for what is none, or has no pictures; 501 where ffprobe is missing
 */
export async function probeVideo(
  file: ProbedFile,
  options: Running & { maxPixels: number },
): Promise<VideoSource> {
  const { maxPixels, signal } = options
  const probed = await probe(file, options).catch((cause) => {
    signal.throwIfAborted()
    throw cause instanceof Problem ? cause : undecodable(cause, maxPixels)
  })
  const [video, sound] = [videoOf(probed), soundOf(probed)]
  if (!video) throw noPictures(sound?.codec_name)
  const size = shownSize(video)
  if (!size) throw undecodable(new Error('a video stream has no size'), maxPixels)
  if (size.width * size.height > maxPixels) throw tooManyPixels(maxPixels)
  return {
    ...size,
    durationSeconds: video.duration ?? probed.format.duration,
    videoCodec: video.codec_name,
    audioCodec: sound?.codec_name,
    stream: video.index,
    colorMatrix: video.color_space,
    transfer: video.color_transfer,
    primaries: video.color_primaries,
  }
}

// A line of 40 bytes for each frame: half an hour of them.
const MAX_FRAMES_BYTES = 2_000_000

/**
 * Until when the last frame of a stream is shown, in seconds from the start; infinity where the file does not say. One
 * that is cut off ends earlier than its header says.
 * @param options.from in seconds: looks from here on only
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

/** ffprobe counts against the clock, and prints -90 for what is to be turned to the right. */
function rotationOf({ side_data_list }: Stream): VideoSource['rotation'] {
  const degrees = side_data_list.find(({ rotation }) => rotation !== undefined)?.rotation ?? 0
  const quarters = ((Math.round(-degrees / 90) % 4) + 4) % 4
  return ([0, 90, 180, 270] as const)[quarters] ?? 0
}

/** How many times as wide as high a pixel is shown. */
function pixelRatio({ sample_aspect_ratio = '' }: Stream): number {
  const [width = 0, height = 0] = sample_aspect_ratio.split(':').map(Number)
  return width > 0 && height > 0 ? width / height : 1
}

/** 422: ffmpeg's own words are logged, and reach nobody else. */
export function undecodable(cause: unknown, maxPixels: number): Problem {
  const words = cause instanceof Error ? cause.message : ''
  if (/exceeds specified max pixel count/.test(words)) return tooManyPixels(maxPixels, cause)
  return notDecodable('expected a video that can be decoded but this one cannot', cause)
}

/** 422: frames that are too large, by the header or by what the stream says of itself. */
function tooManyPixels(maxPixels: number, cause?: unknown): Problem {
  const expected = `expected a video of at most ${maxPixels} pixels a frame to transform`
  return notTransformable(`${expected} but this one has more`, cause)
}

function noPictures(audioCodec: string | undefined): Problem {
  const has = audioCodec === undefined ? 'neither video nor audio' : 'only audio'
  return notTransformable(`expected a video stream but this file has ${has}`)
}
