import type { VideoContainer } from '../ffmpeg/video-source.ts'

interface VideoEncoder {
  /** By ffmpeg's name of the format. */
  codec: string
  /** @param how.kbits the highest average bit rate, in kbit/s */
  encoder(how: { isHigh: boolean; kbits: number | undefined }): string[]
}

interface Writer {
  video: VideoEncoder
  /** The encoder of the sound. */
  audio: string
  muxer: readonly string[]
}

/** Limits the bit rate over a second. */
function atMost(kbits: number | undefined): string[] {
  return kbits === undefined ? [] : ['-maxrate', `${kbits}k`, '-bufsize', `${kbits}k`]
}

/** The lower one of two limits, of which one may be absent. */
function lower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : Math.min(one, other ?? one)
}

const H264: VideoEncoder = {
  codec: 'h264',
  encoder: ({ isHigh, kbits }) => [
    // The file is half as large as with `ultrafast`, in twice the time. Slower presets save another tenth.
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', isHigh ? '20' : '23'],
    ...atMost(isHigh ? kbits : lower(kbits, 4000)),
  ],
}

const VP9: VideoEncoder = {
  codec: 'vp9',
  encoder: ({ isHigh, kbits }) => [
    // The fastest mode: the best of the others takes ten times as long.
    ...['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '6', '-row-mt', '1'],
    ...['-crf', isHigh ? '28' : '33', '-b:v', `${lower(kbits, isHigh ? undefined : 3000) ?? 0}k`],
  ],
}

const MPEG4: VideoEncoder = {
  codec: 'mpeg4',
  encoder: ({ isHigh, kbits }) => [
    ...['-c:v', 'mpeg4', '-vtag', 'XVID'],
    // Its constant quality exceeds every limit.
    ...(kbits === undefined
      ? ['-q:v', isHigh ? '3' : '5']
      : ['-b:v', `${kbits}k`, '-qmin', isHigh ? '3' : '5', ...atMost(kbits)]),
  ],
}

// A player needs the index first.
const INDEX_FIRST = ['-movflags', '+faststart']

/**
 * The encoders of each container that all of its players support. Rates follow the content (constant quality), up to
 * those of the source.
 */
export const WRITERS: Readonly<Record<VideoContainer, Writer>> = {
  mp4: { video: H264, audio: 'aac', muxer: INDEX_FIRST },
  mov: { video: H264, audio: 'aac', muxer: INDEX_FIRST },
  webm: { video: VP9, audio: 'libopus', muxer: [] },
  avi: { video: MPEG4, audio: 'libmp3lame', muxer: [] },
}
