import type { Size } from '../../../core/geometry/box.ts'
import type { PageFacts } from '../../../core/plugin-api/inspectors.ts'
import type { Running } from '../../programs/run.ts'
import type { GainMap, Timing } from '../source.ts'

/**
 * Reads image formats that libvips does not read. Its module is small, and loads what it decodes with at the first
 * call of `decode`, which runs only in a process that can be killed.
 */
export interface Decoder {
  /** The name of what decodes, for the documentation. */
  library: string
  /** Memory for each pixel, in addition to the file, in bytes: measured and rounded up. */
  bytesPerPixel: number
  /** The largest size that `decode` returns, for a format whose size is never in the first bytes. */
  assumed?: Size
  /**
   * Reads the facts of an image from its first bytes, without decoding: in the web process, for any bytes, in linear
   * time. Undefined when these bytes do not have them.
   */
  facts(head: Buffer): PictureFacts | undefined
  /**
   * Decodes the image, upright, into a file that libvips reads quickly, with the colour profile.
   *
   * @param options.check is called with the size before the pixels are decoded, and throws when it exceeds a limit
   * @param options.page the page of a document or frame of an animation, from 1; by default the first
   * @param options.frames `all`: all frames of an animation, as pages of a TIFF. By default, only one
   * @throws any error for a file that cannot be decoded
   */
  decode(bytes: Buffer, options: DecodeOptions): Promise<DecodedFile>
  /**
   * Reads the facts of a document from its whole file. Runs only in a process that can be killed.
   * @throws any error for a file that cannot be read
   */
  inspect?(bytes: Buffer): Promise<PictureFacts & Partial<Omit<PageFacts, 'pages'>>>
}

export interface DecodeOptions {
  maxPixels: number
  page?: number
  frames?: 'all' | 'first'
  /** Read the gain map, or ignore it (the default). */
  gainMap?: 'keep' | 'ignore'
  check(size: Size & { pages?: number }): void
  /** How a decoder runs a program. */
  programs?: Running
}

/** Facts about an image: the size of the upright image in pixels, and whether it has transparency. */
export interface PictureFacts extends Size {
  hasAlpha: boolean
  /** The frames of an animation; `unknown` when these bytes do not have their number. */
  pages?: number | 'unknown'
}

/** An image file that libvips reads. */
export interface DecodedFile {
  bytes: Buffer
  mediaType: string
  /** For an animation, whose frames are the pages of the file. */
  timing?: Timing
  /** The gain map of a photo, which fits the decoded image. */
  gainMap?: GainMap
}
