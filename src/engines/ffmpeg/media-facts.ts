import type { Format } from '../../core/media/formats.ts'
import type { MediaFacts } from '../../core/plugin-api/inspectors.ts'
import { notDecodable, notTransformable } from '../../core/transform-problems.ts'
import { audioStreamOf, type Probed, shownSize, videoStreamOf } from './ffprobe.ts'
import { containerOf } from './input.ts'

/**
 * Converts a probe result into public facts. @throws Problem 422 for a file without a readable video or audio stream
 */
export function mediaFacts(probed: Probed, of: Format): MediaFacts {
  const { format } = probed
  const [video, audio] = [videoStreamOf(probed), audioStreamOf(probed)]
  if (!video && !audio) throw notTransformable('expected a video or audio stream but this file has neither')
  // Some demuxers accept any file, and find nothing in it.
  if (!video && audio?.sample_rate === undefined)
    throw notDecodable('expected an audio stream that can be decoded but this one cannot')
  const duration = format.duration ?? video?.duration ?? audio?.duration
  const frameRate = video && ratio(video.avg_frame_rate)
  return {
    container: containerOf(of),
    ...(duration === undefined ? {} : { duration: thousandths(duration) }),
    ...(format.bit_rate === undefined ? {} : { bitrate: Math.round(format.bit_rate) }),
    ...(video ? { ...shownSize(video), videoCodec: video.codec_name } : {}),
    ...(frameRate === undefined ? {} : { frameRate: thousandths(frameRate) }),
    ...(audio ? { audioCodec: audio.codec_name } : {}),
    ...(audio?.channels === undefined ? {} : { channels: audio.channels }),
    ...(audio?.sample_rate === undefined ? {} : { sampleRate: audio.sample_rate }),
  }
}

/** Parses `30000/1001`; undefined for `0/0`. */
function ratio(text: string): number | undefined {
  const [above = 0, below = 0] = text.split('/').map(Number)
  return above > 0 && below > 0 ? above / below : undefined
}

function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000
}
