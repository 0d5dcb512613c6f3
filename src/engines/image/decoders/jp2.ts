import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Decoder } from './decoder.ts'
import { jp2Header } from './jp2-header.ts'
import { tiffOf } from './tiff.ts'

/** JPEG 2000, with OpenJPEG as WebAssembly: grey or three colours, which it converts to red, green and blue. */
export const jp2: Decoder = {
  library: 'OpenJPEG',
  // Measured with 12 MP: numbers of OpenJPEG, its output, and the TIFF.
  bytesPerPixel: 28,

  facts(head) {
    const header = jp2Header(head)
    return header && { width: header.width, height: header.height, hasAlpha: false }
  },

  async decode(bytes, { check }) {
    const header = jp2Header(bytes)
    if (!header) throw new Error('the header of the JPEG 2000 is invalid')
    check(header)
    const { width, height, profile } = header
    // OpenJPEG's functions for JavaScript would read other memory for these images.
    if (!header.isRead) throw new Error('a JPEG 2000 with these components is not read')
    const { J2KDecoder } = await newInstance()
    const decoder = new J2KDecoder()
    decoder.getEncodedBuffer(bytes.length).set(bytes)
    decoder.decode()
    const { componentCount: channels, bitsPerSample: bits, ...size } = decoder.getFrameInfo()
    const pixels = decoder.getDecodedBuffer()
    const step = bits > 8 ? 2 : 1
    const isWhole = pixels.length === width * height * channels * step && pixels.length > 0
    if (!isWhole || size.width !== width || size.height !== height || (channels !== 1 && channels !== 3))
      throw new Error('OpenJPEG cannot decode the JPEG 2000')
    const samples = step === 2 ? new Uint16Array(pixels.buffer, pixels.byteOffset, pixels.length / 2) : pixels
    const most = 2 ** bits - 1
    const line = Buffer.alloc(width * channels)
    const row = (y: number) => {
      const start = y * line.length
      for (let i = 0; i < line.length; i += 1) line[i] = ((samples[start + i] ?? 0) * 255) / most + 0.5
      return line
    }
    const model = channels === 1 ? 'grey' : 'rgb'
    const tiff = tiffOf({ width, height, channels, model, ...(profile ? { profile } : {}), row })
    return { bytes: tiff, mediaType: 'image/tiff' }
  },
}

interface OpenJpeg {
  J2KDecoder: new () => {
    getEncodedBuffer(bytes: number): Uint8Array
    /** Leaves no pixels for a broken file. */
    decode(): void
    getFrameInfo(): { width: number; height: number; bitsPerSample: number; componentCount: number }
    /** A copy: numbers of 8 or 16 bits, pixel by pixel. */
    getDecodedBuffer(): Uint8ClampedArray
  }
}

/** Each image has an instance of its own: the memory of WebAssembly never shrinks. */
async function newInstance(): Promise<OpenJpeg> {
  const require = createRequire(import.meta.url)
  const create = require('@cornerstonejs/codec-openjpeg/decodewasmjs') as (
    options: object,
  ) => Promise<OpenJpeg>
  const wasmBinary = await readFile(require.resolve('@cornerstonejs/codec-openjpeg/decodewasm'))
  const silent = () => {}
  return create({ wasmBinary, print: silent, printErr: silent })
}
