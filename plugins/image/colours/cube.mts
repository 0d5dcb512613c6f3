/** A table of colours: for each red, green and blue, the colour that replaces it. */
export interface Lut {
  /** Entries per channel, from 2 to 65. */
  size: number
  /** `size` to the power of 3 colours of three numbers, 0 to 1, red changing fastest. */
  colors: Float32Array
  /** The smallest and the largest input, by channel. */
  domain: { min: readonly number[]; max: readonly number[] }
}

/** The most that a file with 65 entries per channel needs. */
export const MAX_CUBE_BYTES = 16 * 1024 * 1024

const MAX_SIZE = 65

/**
 * Reads a 3D LUT in the Cube format.
 *
 * @throws Error that states what is wrong with the file
 * @see Adobe, Cube LUT Specification 1.0, section 5
 */
export function parseCube(text: string): Lut {
  let size = 0
  const domain = { min: [0, 0, 0], max: [1, 1, 1] }
  let colors = new Float32Array(0)
  let count = 0
  for (const line of text.split(/\r?\n/)) {
    const words = line.trim().split(/\s+/)
    const [word = '', ...rest] = words
    if (word === '' || word.startsWith('#')) continue
    const numbers = rest.map(Number)
    if (word === 'LUT_3D_SIZE') {
      ;[size = 0] = numbers
      if (!Number.isInteger(size) || size < 2 || size > MAX_SIZE)
        throw new Error(`LUT_3D_SIZE must be an integer from 2 to ${MAX_SIZE}`)
      colors = new Float32Array(3 * size ** 3)
    } else if (word === 'DOMAIN_MIN') domain.min = three(numbers)
    else if (word === 'DOMAIN_MAX') domain.max = three(numbers)
    else if (/^[\d.+-]/.test(word)) {
      if (count >= colors.length) throw new Error('it has more colours than LUT_3D_SIZE states')
      colors.set(three(words.map(Number)), count)
      count += 3
    } else if (word === 'LUT_1D_SIZE') throw new Error('it is a 1D LUT; only 3D LUTs are supported')
  }
  if (size === 0) throw new Error('it has no LUT_3D_SIZE, as a Cube file must have')
  if (count < colors.length) throw new Error('it has fewer colours than LUT_3D_SIZE states')
  if (domain.min.some((min, i) => min >= Number(domain.max[i])))
    throw new Error('DOMAIN_MIN must be below DOMAIN_MAX')
  return { size, colors, domain }
}

function three(numbers: readonly number[]): number[] {
  if (numbers.length !== 3 || !numbers.every(Number.isFinite)) throw new Error('a line has no three numbers')
  return [...numbers]
}

// A slice takes some milliseconds, then other requests have their turn.
const PIXELS_PER_SLICE = 65_536

/**
 * Replaces the colours of pixels in place, by trilinear interpolation.
 *
 * @param pixels 8 bits per channel, red, green and blue first
 * @param strength 0: no change, 1: the colours of the table
 */
export async function applyLut(
  pixels: Buffer,
  { lut, channels, strength, signal }: { lut: Lut; channels: number; strength: number; signal: AbortSignal },
): Promise<void> {
  const axes = [0, 1, 2].map((channel) => axisOf(lut, channel))
  for (let at = 0; at < pixels.length; at += PIXELS_PER_SLICE * channels) {
    const end = Math.min(pixels.length, at + PIXELS_PER_SLICE * channels)
    applySlice(pixels.subarray(at, end), { lut, axes, channels, strength })
    await new Promise((resolve) => setImmediate(resolve))
    signal.throwIfAborted()
  }
}

/** For each of the 256 values of a channel: the entry below it, as an offset into the table, and the distance to it. */
interface Axis {
  offsets: Int32Array
  fractions: Float32Array
  /** From one entry to the next. */
  step: number
}

function axisOf({ size, domain }: Lut, channel: number): Axis {
  const step = 3 * size ** channel
  const [min = 0, max = 1] = [domain.min[channel], domain.max[channel]]
  const offsets = new Int32Array(256)
  const fractions = new Float32Array(256)
  for (let value = 0; value < 256; value += 1) {
    const place = Math.min(1, Math.max(0, (value / 255 - min) / (max - min))) * (size - 1)
    const below = Math.min(size - 2, Math.floor(place))
    offsets[value] = below * step
    fractions[value] = place - below
  }
  return { offsets, fractions, step }
}

function applySlice(
  pixels: Buffer,
  {
    lut: { colors },
    axes,
    channels,
    strength,
  }: { lut: Lut; axes: Axis[]; channels: number; strength: number },
): void {
  const [red, green, blue] = axes as [Axis, Axis, Axis]
  const at = (list: ArrayLike<number>, i: number) => list[i] as number
  for (let p = 0; p + 2 < pixels.length; p += channels) {
    const [r, g, b] = [at(pixels, p), at(pixels, p + 1), at(pixels, p + 2)]
    const [x, y, z] = [at(red.fractions, r), at(green.fractions, g), at(blue.fractions, b)]
    const start = at(red.offsets, r) + at(green.offsets, g) + at(blue.offsets, b)
    for (let channel = 0; channel < 3; channel += 1) {
      const entry = start + channel
      const line = (from: number) => at(colors, from) * (1 - x) + at(colors, from + red.step) * x
      const plane = (from: number) => line(from) * (1 - y) + line(from + green.step) * y
      const color = 255 * (plane(entry) * (1 - z) + plane(entry + blue.step) * z)
      const before = at(pixels, p + channel)
      pixels[p + channel] = Math.min(255, Math.max(0, Math.round(before + (color - before) * strength)))
    }
  }
}
