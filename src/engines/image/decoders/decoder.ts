import type { Size } from '../../../core/geometry/box.ts'

/**
 * Reads image formats that libvips does not read. Its module is small, and loads what it decodes with at the first
 * call of `decode`, which runs only in a process that can be killed.
 */
export interface Decoder {
  /** The name of what decodes, for the documentation. */
  library: string
  /** Memory for each pixel, in addition to the file, in bytes: measured and rounded up. */
  bytesPerPixel: number
  /**
   * Reads the facts of an image from its first bytes, without decoding: in the web process, for any bytes, in linear
   * time. Undefined when these bytes do not have them.
   */
  facts(head: Buffer): PictureFacts | undefined
  /**
   * Decodes the image, upright, into a file that libvips reads quickly, with the colour profile.
   *
   * @param options.check is called with the size before the pixels are decoded, and throws when it exceeds a limit
   * @throws any error for a file that cannot be decoded
   */
  decode(bytes: Buffer, options: { maxPixels: number; check(size: Size): void }): Promise<DecodedFile>
}

/** Facts about an image: the size of the upright image in pixels, and whether it has transparency. */
export interface PictureFacts extends Size {
  hasAlpha: boolean
}

/** An image file that libvips reads. */
export interface DecodedFile {
  bytes: Buffer
  mediaType: string
}
