import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { VideoDraft } from '../ffmpeg/video-source.ts'
import { encodedAudio, mostKbits } from './streams.ts'
import {
  croppedSizeOf,
  filters,
  MUXING_PACKETS,
  OUTCOME_COLOURS,
  outcomeSize,
  type Size,
  sourceArguments,
  threadsFor,
} from './transcode-arguments.ts'

/** One size of a ladder. */
export interface Rung extends Size {
  /** The name in file names: `720p`, by the shorter side. */
  name: string
  draft: VideoDraft
  /** Maximum bit rate over any 1.5 s, in kbit/s. */
  kbits: number
  /** Maximum bits per second of a segment: it may begin with a full decoder buffer. */
  peak: number
  profile: 'main' | 'high'
}

// Bit rates for each height, between those for H.264 in Apple's authoring specification for HLS (section 1.25) and
// its older TN2224.
const STEPS = [
  { side: 1080, kbits: 5000, profile: 'high' },
  { side: 720, kbits: 2800, profile: 'high' },
  { side: 480, kbits: 1400, profile: 'high' },
  { side: 360, kbits: 800, profile: 'main' },
] as const
// A size only slightly smaller than the one above saves hardly any bandwidth.
const NEXT_AT_MOST = 0.8
// A segment can be played once it is complete, and each costs a request. Apple recommends 6 s, most services use 2 to
// 6.
const SEGMENT_SECONDS = 4
// When there are more frames between two segment starts, more key frames are added: 4 s of 240 frames per second.
const KEY_FRAME_FRAMES = 960
const BUFFER_SECONDS = 1.5

/** The sizes of the stream for a draft, the largest first: never larger than the source, by the shorter side. */
export function ladderOf(draft: VideoDraft): Rung[] {
  const { width, height } = croppedSizeOf(draft)
  const own = Math.min(width, height, STEPS[0].side)
  const sides = [own, ...STEPS.map(({ side }) => side).filter((side) => side <= own * NEXT_AT_MOST)]
  return sides.map((side) => {
    const box = width < height ? { maxWidth: side } : { maxHeight: side }
    const sized = { ...draft, ...box }
    const size = outcomeSize(sized)
    const step = STEPS.findLast((one) => one.side >= side) ?? STEPS[0]
    const ofSource = mostKbits(sized, { codec: 'h264', outcome: size }) ?? Number.POSITIVE_INFINITY
    const [kbits, { profile }] = [Math.min(step.kbits, ofSource), step]
    const name = `${Math.min(size.width, size.height)}p`
    const peak = 1000 * kbits * (1 + BUFFER_SECONDS / SEGMENT_SECONDS)
    return { ...size, name, draft: sized, kbits, peak, profile }
  })
}

export interface HlsOptions {
  ladder: readonly Rung[]
  /** Whether there is an audio stream, as a rendition of its own. */
  hasAudio: boolean
  folder: string
  /** The prefix of all file names. */
  mark: string
  limits: TransformLimits
  /** Whether HDR can be converted for a standard screen. */
  canToneMap: boolean
}

// In ffmpeg, the times of each rendition begin at 0, so a stream that begins later than the other would be early. So
// its first frame is held, and silence is added before the audio.
const PICTURES_FROM_ZERO = "setpts='if(eq(N,0),0,PTS)'"
const AUDIO_FROM_ZERO = 'aresample=async=1:first_pts=0'

/** The name of the audio among the renditions. */
export const AUDIO_NAME = 'sound'

/**
 * The arguments with which ffmpeg renders a whole ladder in one run. For each size, and for the audio, it writes a
 * media playlist `<mark>-<name>.m3u8`, its initialization section `<mark>-<name>.mp4` and segments
 * `<mark>-<name>-<number>.m4s`. All sizes are cut at the same times. ffmpeg rewrites a playlist after each segment,
 * and ends it at the end of the run.
 */
export function hlsArguments(
  draft: VideoDraft,
  { ladder, hasAudio, folder, mark, limits, canToneMap }: HlsOptions,
): string[] {
  const sound = encodedAudio(draft)
  const audioEncoder = ['-ac', String(sound.channels), '-c:a', 'aac', '-b:a', `${sound.kbits}k`]
  const pictures = `[0:${draft.input.source.stream}]${PICTURES_FROM_ZERO}`
  const split = `${pictures},split=${ladder.length}${ladder.map((_, i) => `[s${i}]`).join('')}`
  const sizes = ladder.map((rung, i) => `[s${i}]${filters(rung.draft, canToneMap).join(',')}[v${i}]`)
  const streams = [
    ...ladder.map(({ name }, i) => `v:${i},agroup:${AUDIO_NAME},name:${name}`),
    ...(hasAudio ? [`a:0,agroup:${AUDIO_NAME},name:${AUDIO_NAME}`] : []),
  ]
  // A single stream has no number in ffmpeg, which then replaces `%v` everywhere except in this name.
  const initialization = streams.length === 1 ? ladder[0]?.name : '%v'
  return [
    ...sourceArguments(draft, limits),
    ...['-filter_complex', [split, ...sizes].join(';')],
    ...ladder.flatMap((_, i) => ['-map', `[v${i}]`]),
    ...(hasAudio ? ['-map', '0:a:0', '-af', AUDIO_FROM_ZERO, ...audioEncoder] : []),
    ...threadsFor(ladder[0] ?? croppedSizeOf(draft), limits),
    ...['-vsync', 'vfr', '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23'],
    ...ladder.flatMap(({ kbits, profile }, i) => [
      ...[`-maxrate:v:${i}`, `${kbits}k`, `-bufsize:v:${i}`, `${kbits * BUFFER_SECONDS}k`],
      ...[`-profile:v:${i}`, profile],
    ]),
    // At the start of each segment, in all sizes. Scene changes create no additional key frames.
    ...['-force_key_frames', `expr:gte(t,n_forced*${SEGMENT_SECONDS})`],
    ...['-g', String(KEY_FRAME_FRAMES), '-sc_threshold', '0'],
    ...OUTCOME_COLOURS,
    ...['-f', 'hls', '-hls_time', String(SEGMENT_SECONDS), '-hls_playlist_type', 'event'],
    // Every file and every new version of a playlist is complete: it is first written to a temporary file.
    ...['-hls_segment_type', 'fmp4', '-hls_flags', 'independent_segments+temp_file'],
    // Without edit lists, which some players ignore: the first frame is at 0.
    ...['-hls_segment_options', 'movflags=+cmaf'],
    ...['-hls_fmp4_init_filename', `${mark}-${initialization}.mp4`],
    ...['-hls_segment_filename', `${folder}/${mark}-%v-%05d.m4s`],
    ...['-var_stream_map', streams.join(' ')],
    ...['-max_muxing_queue_size', String(MUXING_PACKETS), '-y', `${folder}/${mark}-%v.m3u8`],
  ]
}
