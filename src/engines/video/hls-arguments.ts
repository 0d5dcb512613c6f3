import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { VideoDraft } from '../ffmpeg/video-source.ts'
import {
  filters,
  keptOf,
  MUXING_PACKETS,
  OUTCOME_COLOURS,
  outcomeSize,
  type Size,
  SOUND_KBITS,
  sourceArguments,
} from './transcode-arguments.ts'

/** One size of a ladder. */
export interface Rung extends Size {
  /** In file names: `720p`, by the shorter side. */
  name: string
  draft: VideoDraft
  /** At most, over any 1.5 s. */
  kbits: number
  /** Bits a second of a segment, at most: it may begin with all that the decoder's buffer holds. */
  peak: number
  profile: 'main' | 'high'
}

// What streams well at each height: between those that Apple's authoring specification for HLS (section 1.25) and its older
// TN2224 give for H.264.
const STEPS = [
  { side: 1080, kbits: 5000, profile: 'high' },
  { side: 720, kbits: 2800, profile: 'high' },
  { side: 480, kbits: 1400, profile: 'high' },
  { side: 360, kbits: 800, profile: 'main' },
] as const
// One that is hardly smaller than the one above it saves nobody anything.
const NEXT_AT_MOST = 0.8
// A segment can be played once all of it is there, and each costs a request: Apple recommends 6, most services have 2 to 6.
const SEGMENT_SECONDS = 4
// Where a video has more frames between two of these there are key frames in between: 4 s of 240 a second.
const KEY_FRAME_FRAMES = 960
const BUFFER_SECONDS = 1.5

/** The sizes in which a draft is streamed, the largest first: never larger than its source, by the shorter side. */
export function ladderOf(draft: VideoDraft): Rung[] {
  const { width, height } = keptOf(draft)
  const own = Math.min(width, height, STEPS[0].side)
  const sides = [own, ...STEPS.map(({ side }) => side).filter((side) => side <= own * NEXT_AT_MOST)]
  return sides.map((side) => {
    const box = width < height ? { maxWidth: side } : { maxHeight: side }
    const sized = { ...draft, ...box }
    const size = outcomeSize(sized)
    const { kbits, profile } = STEPS.findLast((step) => step.side >= side) ?? STEPS[0]
    const name = `${Math.min(size.width, size.height)}p`
    const peak = 1000 * kbits * (1 + BUFFER_SECONDS / SEGMENT_SECONDS)
    return { ...size, name, draft: sized, kbits, peak, profile }
  })
}

export interface HlsOptions {
  ladder: readonly Rung[]
  /** Whether there is sound, in a rendition of its own. */
  hasSound: boolean
  folder: string
  /** What all file names begin with. */
  mark: string
  limits: TransformLimits
  /** Whether HDR can be made what a usual screen shows. */
  canToneMap: boolean
}

// ffmpeg has the times of each rendition begin at 0, so what begins later than the other would come too early: its first
// picture is held, and silence comes before its sound.
const PICTURES_FROM_ZERO = "setpts='if(eq(N,0),0,PTS)'"
const SOUND_FROM_ZERO = 'aresample=async=1:first_pts=0'
const SOUND_ENCODER = ['-ac', '2', '-c:a', 'aac', '-b:a', `${SOUND_KBITS}k`]

/** The name of the sound among those of the ladder. */
export const SOUND_NAME = 'sound'

/**
 * The arguments with which ffmpeg makes a whole ladder in one run: of each size, and of the sound, a media playlist
 * `<mark>-<name>.m3u8`, its initialization section `<mark>-<name>.mp4` and segments `<mark>-<name>-<number>.m4s`. All sizes
 * are cut at the same moments. A playlist is written anew after each of its segments, and ends with the run.
 */
export function hlsArguments(
  draft: VideoDraft,
  { ladder, hasSound, folder, mark, limits, canToneMap }: HlsOptions,
): string[] {
  const pictures = `[0:${draft.input.source.stream}]${PICTURES_FROM_ZERO}`
  const split = `${pictures},split=${ladder.length}${ladder.map((_, i) => `[s${i}]`).join('')}`
  const sizes = ladder.map((rung, i) => `[s${i}]${filters(rung.draft, canToneMap).join(',')}[v${i}]`)
  const streams = [
    ...ladder.map(({ name }, i) => `v:${i},agroup:${SOUND_NAME},name:${name}`),
    ...(hasSound ? [`a:0,agroup:${SOUND_NAME},name:${SOUND_NAME}`] : []),
  ]
  // A single one has no number for ffmpeg, and then it puts the name everywhere but there.
  const initialization = streams.length === 1 ? ladder[0]?.name : '%v'
  return [
    ...sourceArguments(draft, limits),
    ...['-filter_complex', [split, ...sizes].join(';')],
    ...ladder.flatMap((_, i) => ['-map', `[v${i}]`]),
    ...(hasSound ? ['-map', '0:a:0', '-af', SOUND_FROM_ZERO, ...SOUND_ENCODER] : []),
    ...['-vsync', 'vfr', '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23'],
    ...ladder.flatMap(({ kbits, profile }, i) => [
      ...[`-maxrate:v:${i}`, `${kbits}k`, `-bufsize:v:${i}`, `${kbits * BUFFER_SECONDS}k`],
      ...[`-profile:v:${i}`, profile],
    ]),
    // Wherever a segment begins, in all sizes; a scene that changes begins none of its own.
    ...['-force_key_frames', `expr:gte(t,n_forced*${SEGMENT_SECONDS})`],
    ...['-g', String(KEY_FRAME_FRAMES), '-sc_threshold', '0'],
    ...OUTCOME_COLOURS,
    ...['-f', 'hls', '-hls_time', String(SEGMENT_SECONDS), '-hls_playlist_type', 'event'],
    // What is there is whole: each file, and each playlist anew, is written beside its place first.
    ...['-hls_segment_type', 'fmp4', '-hls_flags', 'independent_segments+temp_file'],
    // Without edit lists, which not every player heeds: the first picture is at 0 as it stands.
    ...['-hls_segment_options', 'movflags=+cmaf'],
    ...['-hls_fmp4_init_filename', `${mark}-${initialization}.mp4`],
    ...['-hls_segment_filename', `${folder}/${mark}-%v-%05d.m4s`],
    ...['-var_stream_map', streams.join(' ')],
    ...['-max_muxing_queue_size', String(MUXING_PACKETS), '-y', `${folder}/${mark}-%v.m3u8`],
  ]
}
