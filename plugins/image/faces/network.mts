import type { Size } from '../../../src/core/geometry/box.ts'
import { FLOAT, type Kernel, startKernel } from './kernel.mts'

/** What the network states about a grid of cells: for each anchor of each cell, whether it is a face, and where. */
export interface Grid extends Size {
  /** Pixels of the input from one cell to the next. */
  stride: number
  /** Anchors per cell. */
  anchors: number
  /** The logit of anchor `i` of cell `n` is at `n * scores.perCell + i`. */
  scores: PerCell
  /** The box of anchor `i` of cell `n` is at `n * boxes.perCell + i * BOX_NUMBERS`. */
  boxes: PerCell
}

interface PerCell {
  values: Float32Array
  perCell: number
}

/** Of each box: the centre relative to that of the cell, the width, the height, and six points that are not used. */
export const BOX_NUMBERS = 16

/** The sides of the input must be multiples of this, so that each cell of the coarsest grid is whole. */
export const STEP = 32

/** A plane of pixels in the memory of the kernel, with a border of zeros around it. Addresses count bytes. */
interface Plane extends Size {
  at: number
  channels: number
}

/** A layer: a 3 x 3 convolution of each channel, then a matrix for each pixel. */
interface Layer {
  from: number
  to: number
  stride: number
  depth: number
  matrix: number
  bias: number
}

/**
 * BlazeFace (back camera) of MediaPipe. All of its layers are convolutions, so it accepts an input of any size: a face
 * is detected when it is 10 to 200 pixels wide there.
 *
 * @param maxPixels the size of the largest input
 */
export async function blazeFace(weights: Uint16Array, maxPixels: number) {
  // Of all planes, the first two layers have the largest ones: a quarter of the pixels, with 24 channels. The border
  // adds most when the input is one step high.
  const planeBytes = (Math.ceil(maxPixels / 4) * 1.25 + 1024) * 24 * FLOAT
  const rowBytes = (maxPixels / STEP) * 75 * FLOAT
  const kernel = await startKernel(weights.length * FLOAT + 2 * planeBytes + rowBytes)
  kernel.floats.set(Float32Array.from(weights, fromHalf))
  let address = 0
  const take = (count: number) => {
    address += count * FLOAT
    return address - count * FLOAT
  }
  const matrix = (from: number, to: number) => ({ from, to, matrix: take(from * to), bias: take(to) })
  const layer = (from: number, to = from, stride = 1): Layer => ({
    stride,
    depth: take(9 * from),
    ...matrix(from, to),
  })
  const seven = (channels: number) => Array.from({ length: 7 }, () => layer(channels))

  const first = matrix(75, 24)
  const layers = [
    ...seven(24),
    layer(24, 24, 2),
    ...seven(24),
    layer(24, 48, 2),
    ...seven(48),
    layer(48, 96, 2),
    ...seven(96),
  ]
  // The number of outputs of a matrix must be a multiple of 24.
  const fine = { scores: matrix(96, 24), boxes: matrix(96, 48) }
  const coarsening = layer(96, 96, 2)
  const coarse = { scores: matrix(96, 24), boxes: matrix(96, 96) }
  if (address !== weights.length * FLOAT) throw new Error(`the network has ${address / FLOAT} weights`)
  const planes = [take(planeBytes / FLOAT), take(planeBytes / FLOAT)] as const
  const row = take(rowBytes / FLOAT)
  let used = 0

  /** A plane of zeros in that half of the memory that the previous plane is not in. */
  const plane = (width: number, height: number, channels: number): Plane => {
    used = 1 - used
    const at = planes[used] as number
    kernel.floats.fill(0, at / FLOAT, at / FLOAT + (width + 2) * (height + 2) * channels)
    return { width, height, channels, at }
  }

  const separable = (input: Plane, { from, to, stride, depth, matrix: weight, bias }: Layer, adds = true) => {
    const output = plane(input.width / stride, input.height / stride, to)
    if (adds) copyPooled(kernel, input, output)
    const pixel = from * FLOAT
    const rowIn = (input.width + 2) * pixel
    const end = row + output.width * pixel
    for (let y = 0; y < output.height; y++) {
      // With a stride of 2, the border at the right and at the bottom is in use, and the other one is not.
      const start = input.at + y * stride * rowIn + (stride - 1) * (rowIn + pixel)
      kernel.depth(start, depth, row, end, pixel, rowIn, stride * pixel)
      const [at, next] = rowOf(output, y)
      kernel.point(row, weight, bias, at, next, pixel, to * FLOAT, 0)
    }
    return output
  }

  const head = (input: Plane, { to, matrix: weight, bias }: ReturnType<typeof matrix>): PerCell => {
    const values = new Float32Array(input.width * input.height * to)
    const bytes = input.width * to * FLOAT
    for (let y = 0; y < input.height; y++) {
      kernel.floats.fill(0, row / FLOAT, (row + bytes) / FLOAT)
      const [at] = rowOf(input, y)
      kernel.point(at, weight, bias, row, row + bytes, input.channels * FLOAT, to * FLOAT, -Infinity)
      values.set(kernel.floats.subarray(row / FLOAT, (row + bytes) / FLOAT), y * input.width * to)
    }
    return { values, perCell: to }
  }

  /** @param image red, green and blue from 0 to 255; each side is a multiple of `STEP` */
  return (image: Uint8Array, { width, height }: Size): Grid[] => {
    if (width * height > maxPixels) throw new Error(`an input of ${width} x ${height} pixels is too large`)
    let last = plane(width / 2, height / 2, 24)
    for (let y = 0; y < last.height; y++) {
      gather(kernel.floats, row / FLOAT, image, { width, height, y })
      const [at, end] = rowOf(last, y)
      kernel.point(row, first.matrix, first.bias, at, end, first.from * FLOAT, first.to * FLOAT, 0)
    }
    for (const one of layers) last = separable(last, one)
    const grid = (stride: number, anchors: number, heads: typeof fine): Grid => ({
      width: last.width,
      height: last.height,
      stride,
      anchors,
      scores: head(last, heads.scores),
      boxes: head(last, heads.boxes),
    })
    const result = [grid(16, 2, fine)]
    last = separable(last, coarsening, false)
    return [...result, grid(32, 6, coarse)]
  }
}

/** Start and end of a row without its border. */
function rowOf({ at, width, channels }: Plane, y: number): [number, number] {
  const pixel = channels * FLOAT
  const start = at + ((y + 1) * (width + 2) + 1) * pixel
  return [start, start + width * pixel]
}

/** Copies the input, or the largest number of each 2 x 2 pixels when the output has half the size. */
function copyPooled({ floats }: Kernel, input: Plane, output: Plane): void {
  const { channels } = input
  const below = (input.width + 2) * channels
  for (let y = 0; y < output.height; y++) {
    const to = rowOf(output, y)[0] / FLOAT
    if (input.width === output.width) {
      const [start, end] = rowOf(input, y)
      floats.copyWithin(to, start / FLOAT, end / FLOAT)
      continue
    }
    const from = rowOf(input, 2 * y)[0] / FLOAT
    for (let x = 0; x < output.width; x++) {
      for (let c = 0; c < channels; c++) {
        const i = from + 2 * x * channels + c
        floats[to + x * output.channels + c] = Math.max(
          floats[i] as number,
          floats[i + channels] as number,
          floats[i + below] as number,
          floats[i + below + channels] as number,
        )
      }
    }
  }
}

/** Collects the 5 x 5 pixels that decide each pixel of a row of the first plane, which has half the size. */
function gather(
  floats: Float32Array,
  at: number,
  image: Uint8Array,
  { width, height, y }: Size & { y: number },
): void {
  let to = at
  for (let x = 0; x < width; x += 2) {
    for (let down = 2 * y - 1; down < 2 * y + 4; down++) {
      const row = down * width * 3
      for (let i = (x - 1) * 3; i < (x + 4) * 3; i++) {
        const inside = down >= 0 && down < height && i >= 0 && i < width * 3
        floats[to++] = inside ? (image[row + i] as number) / 127.5 - 1 : 0
      }
    }
  }
}

/** A number from its 16 bits, as in IEEE 754. The weights have no infinity. */
function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = (bits & 0x3ff) / 1024
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15))
}
