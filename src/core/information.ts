import type { Asset } from './asset.ts'
import type { Exif } from './exif.ts'

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
