import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Decoder } from './decoder.ts'
import { jxlFacts } from './jxl-facts.ts'
import { tiffOf } from './tiff.ts'

const CHANNELS = 4

/**
 * JPEG XL, with libjxl as WebAssembly, which converts the colours to sRGB and applies the orientation. Of an animation, the
 * first frame is decoded.
 */
export const jxl: Decoder = {
  library: 'libjxl',
  // Measured with 12 MP: floats of libjxl, its output, and the TIFF.
  bytesPerPixel: 52,

  facts: jxlFacts,

  async decode(bytes, { check }) {
    const facts = jxlFacts(bytes)
    if (!facts) throw new Error('the header of the JPEG XL is invalid')
    check(facts)
    const decoded = (await newInstance()).decode(bytes)
    if (!decoded) throw new Error('libjxl cannot decode the JPEG XL')
    const { width, height, data } = decoded
    const all = new Uint8Array(data.buffer, data.byteOffset, data.length)
    const channels = facts.hasAlpha ? CHANNELS : 3
    const line = Buffer.alloc(width * channels)
    const row = (y: number) => {
      const pixels = all.subarray(y * width * CHANNELS, (y + 1) * width * CHANNELS)
      if (facts.hasAlpha) return pixels
      for (let x = 0; x < width; x += 1)
        for (let i = 0; i < 3; i += 1) line[x * 3 + i] = pixels[x * CHANNELS + i] ?? 0
      return line
    }
    return { bytes: tiffOf({ width, height, channels, row }), mediaType: 'image/tiff' }
  },
}

interface LibJxl {
  /** Red, green, blue and alpha. Null for a broken file. */
  decode(bytes: Uint8Array): { width: number; height: number; data: Uint8ClampedArray } | null
}

/** Each image has an instance of its own: the memory of WebAssembly never shrinks. */
async function newInstance(): Promise<LibJxl> {
  const { default: create } = await import('@jsquash/jxl/codec/dec/jxl_dec.js')
  const path = createRequire(import.meta.url).resolve('@jsquash/jxl/codec/dec/jxl_dec.wasm')
  const silent = () => {}
  return create({ wasmBinary: await readFile(path), noInitialRun: true, print: silent, printErr: silent })
}
