import { pngDataUrl } from './png.ts'

/** A channel: the mean, and the terms of its cosine transform, row by row without the first one. */
interface Channel {
  mean: number
  columns: number
  rows: number
  terms: number[]
}

const SIDE = 32
// Quantization lowers the saturation.
const SATURATION = 1.25

/**
 * A blurred placeholder of about 32 px as a data URL, for `src` or a CSS background.
 *
 * @param hash `thumbHash` of file information, in base64, or its bytes
 * @throws TypeError for any other value
 * @see https://evanw.github.io/thumbhash/
 */
export function thumbHashToDataUrl(hash: string | Uint8Array): string {
  const bytes = typeof hash === 'string' ? bytesOf(hash) : hash
  const byte = (i: number) => bytes[i] ?? 0
  const bits = (from: number, count: number) => {
    let value = 0
    for (let i = count - 1; i >= 0; i -= 1)
      value = 2 * value + ((byte((from + i) >> 3) >> ((from + i) & 7)) & 1)
    return value
  }
  // The header, from its lowest bit: means of L, P and Q, scale of L, alpha; a side, scales of P and Q, the orientation.
  const hasAlpha = bits(23, 1) === 1
  const isLandscape = bits(39, 1) === 1
  const long = hasAlpha ? 5 : 7
  const short = bits(24, 3)
  const [columns, rows] = isLandscape ? [long, short] : [short, long]
  let next = hasAlpha ? 48 : 40
  const channel = (mean: number, scale: number, columns: number, rows: number): Channel => {
    const terms: number[] = []
    for (const _ of termsOf(columns, rows)) {
      terms.push((bits(next, 4) / 7.5 - 1) * scale)
      next += 4
    }
    return { mean, columns, rows, terms }
  }
  const l = channel(bits(0, 6) / 63, bits(18, 5) / 31, Math.max(3, columns), Math.max(3, rows))
  const p = channel(bits(6, 6) / 31.5 - 1, (bits(27, 6) / 63) * SATURATION, 3, 3)
  const q = channel(bits(12, 6) / 31.5 - 1, (bits(33, 6) / 63) * SATURATION, 3, 3)
  const a = hasAlpha ? channel(bits(40, 4) / 15, bits(44, 4) / 15, 5, 5) : undefined
  if (short === 0 || Math.ceil(next / 8) !== bytes.length)
    throw new TypeError(`expected a ThumbHash but received ${JSON.stringify(hash)}`)

  const ratio = columns / rows
  const width = Math.round(ratio > 1 ? SIDE : SIDE * ratio)
  const height = Math.round(ratio > 1 ? SIDE / ratio : SIDE)
  const rgba = new Uint8Array(4 * width * height)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = (one: Channel) => valueAt(one, (x + 0.5) / width, (y + 0.5) / height)
      const [luma, yellowBlue, redGreen] = [at(l), at(p), at(q)]
      const blue = luma - (2 / 3) * yellowBlue
      const red = (3 * luma - blue + redGreen) / 2
      const colors = [red, red - redGreen, blue, a ? at(a) : 1]
      rgba.set(
        colors.map((value) => 255 * Math.min(1, Math.max(0, value))),
        4 * (y * width + x),
      )
    }
  return pngDataUrl({ width, height, rgba })
}

/** The frequencies of a channel in the order of the hash: a triangle, without the mean. */
function* termsOf(columns: number, rows: number): Generator<[column: number, row: number]> {
  for (let row = 0; row < rows; row += 1)
    for (let column = row === 0 ? 1 : 0; column * rows < columns * (rows - row); column += 1)
      yield [column, row]
}

/** The value of a channel, with `x` and `y` from 0 to 1. */
function valueAt({ mean, columns, rows, terms }: Channel, x: number, y: number): number {
  let value = mean
  let i = 0
  for (const [column, row] of termsOf(columns, rows)) {
    const wave = Math.cos(Math.PI * x * column) * Math.cos(Math.PI * y * row)
    value += 2 * (terms[i] ?? 0) * wave
    i += 1
  }
  return value
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    throw new TypeError(`expected a ThumbHash in base64 but received ${JSON.stringify(base64)}`)
  }
}
