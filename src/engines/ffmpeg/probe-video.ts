import { Problem } from '../../core/problem.ts'
import { noCover, notTransformable } from '../../core/transform-problems.ts'
import type { Running } from '../programs/run.ts'
import {
  audioStreamOf,
  type Probed,
  type ProbedFile,
  pixelRatio,
  probe,
  type Stream,
  shownSize,
  tooManyPixels,
  undecodable,
  videoStreamOf,
} from './ffprobe.ts'
import type { VideoSource } from './video-source.ts'

/**
 * Reads the facts about a video, or about the cover of an audio file.
 *
 * @throws Problem 422 for a file that is not a video or has no frames, or without a cover; 501 without ffprobe
 */
export async function probeVideo(
  file: ProbedFile,
  options: Running & { maxPixels: number; isCover: boolean },
): Promise<VideoSource> {
  const { maxPixels, isCover, signal } = options
  const probed = await probe(file, options).catch((cause) => {
    signal.throwIfAborted()
    throw cause instanceof Problem ? cause : undecodable(cause, maxPixels)
  })
  const [video, audio] = [isCover ? coverOf(probed) : videoStreamOf(probed), audioStreamOf(probed)]
  if (!video) throw isCover ? noCover() : noPictures(audio?.codec_name)
  const size = shownSize(video)
  if (!size) throw undecodable(new Error('a video stream has no size'), maxPixels)
  if (size.width * size.height > maxPixels) throw tooManyPixels(maxPixels)
  return {
    ...size,
    durationSeconds: video.duration ?? probed.format.duration,
    videoCodec: video.codec_name,
    audioCodec: audio?.codec_name,
    bitRate: video.bit_rate ?? restOf(probed.format.bit_rate, audio),
    pixelFormat: video.pix_fmt,
    ...alphaOf(video),
    isSquare: pixelRatio(video) === 1,
    isInterlaced: video.field_order !== undefined && video.field_order !== 'progressive',
    audioChannels: audio?.channels,
    audioBitRate: audio?.bit_rate,
    stream: video.index,
    ...(isCover ? { isCover } : {}),
    colorMatrix: video.color_space,
    transfer: video.color_transfer,
    primaries: video.color_primaries,
  }
}

/** The decoder of a VP8 or VP9 stream with transparency: that of ffmpeg itself ignores it. */
function alphaOf({ codec_name: codec, tags }: Stream): Pick<VideoSource, 'alphaDecoder'> {
  const decoder = { vp8: 'libvpx', vp9: 'libvpx-vp9' }[codec]
  const hasAlpha = (tags.alpha_mode ?? tags.ALPHA_MODE) === '1'
  return hasAlpha && decoder ? { alphaDecoder: decoder } : {}
}

// A usual bit rate of sound.
const AUDIO_BITS = 96_000

/** The bit rate of a file without its sound. Files that are not MP4 state none for each stream. */
function restOf(all: number | undefined, audio: Stream | undefined): number | undefined {
  if (all === undefined || !audio) return all
  const sound = audio.bit_rate ?? AUDIO_BITS
  return Math.max(all / 2, all - sound)
}

/** The attached picture: the cover of an audio file. */
function coverOf({ streams }: Probed): Stream | undefined {
  return streams.find(({ disposition }) => disposition.attached_pic)
}

function noPictures(audioCodec: string | undefined): Problem {
  const has = audioCodec === undefined ? 'neither video nor audio' : 'only audio'
  return notTransformable(`expected a video stream but this file has ${has}`)
}
