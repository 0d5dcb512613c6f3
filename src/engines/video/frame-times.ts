import { Problem } from '../../core/problem.ts'
import { undecodable } from '../ffmpeg/ffprobe.ts'
import { guardedInput, inputPath } from '../ffmpeg/input.ts'
import { outputOf } from '../ffmpeg/process.ts'
import type { VideoInput } from '../ffmpeg/video-source.ts'
import type { Running } from '../programs/run.ts'

/** Times of the frames of a video, from the frames that exist, whatever the header states. */
export interface PictureTimes {
  /** The end of the last frame, in seconds from the start. */
  untilSeconds: number
  /** The duration in the header, audio included, in seconds; undefined when the file does not state it. */
  headerSeconds: number | undefined
  /**
   * The longest time from one key frame to the next, or to the end; infinity when key frames cannot be decoded alone.
   */
  keyFramesApartSeconds: number
}

// Each frame is a line of 40 bytes: sixty a second for a day are 200 MB. They are read as a stream.
const MAX_PRINTED_BYTES = 500_000_000

/**
 * Reads a whole file without decoding: a gigabyte takes a second.
 *
 * @throws Problem 422 for a file that cannot be read, has no frames or takes too long; 501 without ffprobe
 */
export async function pictureTimes(
  { path, demuxer, source }: VideoInput,
  { maxPixels, ...running }: Running & { maxPixels: number },
): Promise<PictureTimes> {
  const args = [
    ...['-v', 'error', ...guardedInput(demuxer, maxPixels), '-select_streams', String(source.stream)],
    ...['-of', 'csv', '-show_entries'],
    'packet=pts_time,dts_time,duration_time,flags:format=start_time,duration',
    ...['-i', inputPath(path)],
  ]
  const reading = readPackets()
  await outputOf('ffprobe', args, {
    ...running,
    maxBytes: MAX_PRINTED_BYTES,
    onOutput: (chunk) => reading.take(chunk.toString('latin1')),
  }).catch((cause) => {
    running.signal.throwIfAborted()
    throw cause instanceof Problem ? cause : undecodable(cause, maxPixels)
  })
  const times = reading.times()
  if (!times) throw undecodable(new Error('no frame has a timestamp'), maxPixels)
  // Without the frames in between, ffmpeg's decoder loses the order of such key frames.
  const areLost = source.videoCodec === 'h264' && reading.hasOpenGroups()
  return areLost ? { ...times, keyFramesApartSeconds: Number.POSITIVE_INFINITY } : times
}

/** Parses the output of ffprobe: one line for each packet, in the order of the file, and one for the whole file. */
function readPackets() {
  let rest = ''
  let [start, until] = [0, Number.NEGATIVE_INFINITY]
  let headerSeconds: number | undefined
  let [keyFrame, apart]: [number | undefined, number] = [undefined, 0]
  let isOpen = false
  const readLine = (line: string) => {
    const [section, first = '', second = '', third = '', flags = ''] = line.split(',')
    if (section === 'format') {
      start = Number.parseFloat(first) || 0
      headerSeconds = Number.parseFloat(second) || undefined
    }
    if (section !== 'packet') return
    // Some containers have the decoding time of a frame only.
    const at = [first, second].map(Number.parseFloat).find((seconds) => !Number.isNaN(seconds))
    if (at === undefined) return
    until = Math.max(until, at + (Number.parseFloat(third) || 0))
    if (keyFrame !== undefined && at < keyFrame) isOpen = true
    if (!flags.startsWith('K')) return
    apart = Math.max(apart, at - (keyFrame ?? at))
    keyFrame = at
  }
  return {
    take(text: string): void {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) readLine(line)
    },
    /**
     * Whether some frames are shown before the key frame that precedes them in the file: to decode them needs earlier
     * frames too.
     */
    hasOpenGroups: () => isOpen,
    times(): PictureTimes | undefined {
      if (until === Number.NEGATIVE_INFINITY) return undefined
      return {
        untilSeconds: until - start,
        headerSeconds,
        keyFramesApartSeconds:
          keyFrame === undefined ? Number.POSITIVE_INFINITY : Math.max(apart, until - keyFrame),
      }
    },
  }
}
