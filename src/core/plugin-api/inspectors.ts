import type { Asset } from '../bytes/asset.ts'
import type { Exif } from '../media/exif.ts'
import type { EngineContext } from './plugin.ts'

/** What a picture's header says of it. */
export interface ImageFacts {
  /** Of one frame, in pixels, after it has been turned upright. */
  width: number
  height: number
  /** Frames of an animation, pages of a document; 1 for a still picture. Unknown when only a part was read. */
  pages?: number | undefined
  hasAlpha: boolean
  /** As libvips calls it: `srgb`, `b-w`, `cmyk`, `rgb16`. */
  colorSpace: string
  exif?: Exif | undefined
}

/** What can be told of a picture only by looking at its pixels. */
export interface ImageColors {
  /** `#rrggbb` of what there is most of; none when all of it is transparent. */
  dominantColor?: string | undefined
  /** Base64. @see https://evanw.github.io/thumbhash/ */
  thumbHash: string
  /** On white, where it is transparent. @see https://blurha.sh */
  blurHash: string
}

/** Tells of pictures. */
export interface ImageInspector {
  /**
   * From the header alone. @param maxBytes how much of the file may be read; of a longer one only so much is
   * @returns undefined when it cannot be read
   */
  facts(source: Asset, options: { maxBytes: number; signal: AbortSignal }): Promise<ImageFacts | undefined>
  /** Of a small picture: at most {@link SMALL_SIDE} pixels a side. */
  colors(small: Asset, signal: AbortSignal): Promise<ImageColors>
}

/** What a ThumbHash is made of at most; nobody sees more in one. */
export const SMALL_SIDE = 100

/** What is stored of a picture, as a derivative of its own. */
export type ImageInformation = ImageFacts & ImageColors

/** What the headers of a video or of sound say of it: codecs by ffmpeg's names, `h264` or `aac`. */
export interface MediaFacts {
  /** What holds the streams, by its usual name: `mp4`, `matroska`. */
  container: string
  /** In seconds. A browser's recording does not say, and what is cut off ends earlier. */
  duration?: number | undefined
  /** Of all the file, in bits a second. */
  bitrate?: number | undefined
  videoCodec?: string | undefined
  /** As its pictures are shown, upright and in square pixels. */
  width?: number | undefined
  height?: number | undefined
  /** Clockwise, in degrees: how far the stored pictures are turned for that. */
  rotation?: number | undefined
  /** Pictures a second, on average. */
  frameRate?: number | undefined
  audioCodec?: string | undefined
  channels?: number | undefined
  /** In Hz. */
  sampleRate?: number | undefined
}

/** Tells of videos and sound. */
export interface MediaInspector {
  /** @throws Problem 404, 422 for what cannot be read, 501 where the programs for it are missing, 503 */
  facts(source: Asset, context: Pick<EngineContext, 'signal' | 'limits' | 'spent'>): Promise<MediaFacts>
}
