import type { VideoContainer, VideoDraft } from '../ffmpeg/video-source.ts'

/** The streams of the source that an output takes over as they are. That takes no time, and loses no quality. */
export interface CopiedStreams {
  video: boolean
  audio: boolean
}

// What every player of a container supports.
const VIDEO: Readonly<Record<VideoContainer, readonly string[]>> = {
  mp4: ['h264'],
  mov: ['h264'],
  webm: ['vp8', 'vp9', 'av1'],
  avi: [],
}
const AUDIO: Readonly<Record<VideoContainer, readonly string[]>> = {
  mp4: ['aac'],
  mov: ['aac'],
  webm: ['opus', 'vorbis'],
  avi: [],
}
// Containers in which each packet states its time.
const TIMED = new Set(['mov', 'matroska'])
// The colours that every decoder supports: full or limited range, eight bits.
const PIXEL_FORMATS = new Set(['yuv420p', 'yuvj420p'])
// Brightness for HDR screens, which is converted.
const HDR = new Set(['smpte2084', 'arib-std-b67'])
const MOST_CHANNELS = 2

/**
 * The streams that fit: in a format of the container, and without any change. A part of a video is encoded, since it
 * begins and ends exactly.
 */
export function copiedStreams(
  draft: VideoDraft,
  { container, outcome }: { container: VideoContainer; outcome: { width: number; height: number } },
): CopiedStreams {
  const { source, demuxer } = draft.input
  const isWhole = draft.startSeconds === undefined && draft.endSeconds === undefined
  const isCopyable = isWhole && TIMED.has(demuxer)
  const isUnchanged = outcome.width === source.width && outcome.height === source.height
  const isPlain = source.rotation === 0 && source.isSquare === true && source.isInterlaced !== true
  const isShown = PIXEL_FORMATS.has(source.pixelFormat ?? '') && !HDR.has(source.transfer ?? '')
  const isAsRequested = draft.keyFrames === undefined && draft.quality !== 'automatic'
  return {
    video:
      isCopyable &&
      VIDEO[container].includes(source.videoCodec) &&
      isUnchanged &&
      isPlain &&
      isShown &&
      isAsRequested,
    audio:
      isCopyable &&
      AUDIO[container].includes(source.audioCodec ?? '') &&
      (source.audioChannels ?? Number.POSITIVE_INFINITY) <= MOST_CHANNELS,
  }
}

// Bits that an encoder of the output needs for the look of one bit of the source: a newer codec needs fewer. Ours are
// fast, so none needs less than the source.
const GENERATIONS: Readonly<Record<string, number>> = { mpeg4: 0, h264: 1, vp8: 1, hevc: 2, vp9: 2, av1: 3 }
const OF_OLDER_CODEC = 1.5
// MPEG-4 would need more, and its rate is less exact.
const OF_MPEG4 = 1.2
// The index, the sound, and the inaccuracy of the encoders.
const MARGIN = 0.88
const MARGIN_OF_VP9 = 0.82
// Below this, nothing can be seen.
const LEAST_KBITS = 60

/**
 * The highest bit rate that a transcoded video may have on average, in kbit/s: that of the source, for its share of the
 * pixels. Undefined when the source does not state its own.
 */
export function mostKbits(
  { input: { source } }: VideoDraft,
  { codec, outcome }: { codec: string; outcome: { width: number; height: number } },
): number | undefined {
  if (source.bitRate === undefined) return undefined
  const share = Math.min(1, (outcome.width * outcome.height) / (source.width * source.height))
  const isOlder = (GENERATIONS[codec] ?? 1) < (GENERATIONS[source.videoCodec] ?? 1)
  const margin = codec === 'vp9' ? MARGIN_OF_VP9 : MARGIN
  const factor = !isOlder ? 1 : codec === 'mpeg4' ? OF_MPEG4 : OF_OLDER_CODEC
  const kbits = (source.bitRate / 1000) * share * margin * factor
  return Math.max(LEAST_KBITS, Math.round(kbits))
}

/** The usual bit rate of encoded stereo. */
export const AUDIO_KBITS = 128
const LEAST_AUDIO_KBITS = 24

/** Channels and bit rate of encoded sound: at most those of the source, and two channels. */
export function encodedAudio({ input: { source } }: VideoDraft): { channels: number; kbits: number } {
  const channels = Math.min(MOST_CHANNELS, source.audioChannels ?? MOST_CHANNELS)
  const usual = (AUDIO_KBITS * channels) / MOST_CHANNELS
  const own = source.audioBitRate === undefined ? usual : Math.round(source.audioBitRate / 1000)
  return { channels, kbits: Math.max(LEAST_AUDIO_KBITS, Math.min(usual, own)) }
}
