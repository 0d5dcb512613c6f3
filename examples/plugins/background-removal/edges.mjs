import { between } from './operations.mjs'

// In pixels of the small image.
const RADIUS = 4
// Changes of brightness below the root of it are not taken for an edge.
const SMOOTHNESS = 1e-4

/**
 * Enlarges the result of the network to the size of the image, with the edges of the image: a fast guided filter.
 *
 * @param {{ likely: Float32Array, guide: Uint8Array, width: number, height: number }} small the result, and the image in the same size
 * @param {Uint8Array} pixels of the image, three bytes each
 * @param {{ width: number, height: number }} size of the image
 * @returns {Float32Array} how likely each pixel is shown
 * @see https://arxiv.org/abs/1505.00996
 */
export function refined({ likely, guide, width, height }, pixels, size) {
  const grey = Float32Array.from(likely, (_, i) => brightness(guide, 3 * i))
  const mean = (values) => blurred(values, width, height)
  const [meanGrey, meanLikely] = [mean(grey), mean(likely)]
  const meanSquare = mean(grey.map((value) => value * value))
  const meanProduct = mean(grey.map((value, i) => value * likely[i]))
  const slope = grey.map((_, i) => {
    const variance = meanSquare[i] - meanGrey[i] ** 2
    return (meanProduct[i] - meanGrey[i] * meanLikely[i]) / (variance + SMOOTHNESS)
  })
  const slopes = mean(slope)
  const offsets = mean(slope.map((value, i) => meanLikely[i] - value * meanGrey[i]))
  const result = new Float32Array(size.width * size.height)
  const columns = Array.from({ length: size.width }, (_, x) => between(x, size.width, width))
  for (let y = 0, at = 0; y < size.height; y += 1) {
    const [above, below, down] = between(y, size.height, height)
    for (let x = 0; x < size.width; x += 1, at += 1) {
      const [left, right, across] = columns[x]
      const value = (all) =>
        (all[above * width + left] * (1 - across) + all[above * width + right] * across) * (1 - down) +
        (all[below * width + left] * (1 - across) + all[below * width + right] * across) * down
      result[at] = value(slopes) * brightness(pixels, 3 * at) + value(offsets)
    }
  }
  return result
}

function brightness(pixels, at) {
  return (0.299 * pixels[at] + 0.587 * pixels[at + 1] + 0.114 * pixels[at + 2]) / 255
}

/** Each pixel as the average of those around it, within the image. */
function blurred(values, width, height) {
  return blurredRows(blurredRows(values, { count: height, length: width, next: 1, row: width }), {
    count: width,
    length: height,
    next: width,
    row: 1,
  })
}

function blurredRows(values, { count, length, next, row }) {
  const result = new Float32Array(values.length)
  for (let i = 0; i < count; i += 1) {
    let sum = 0
    let used = 0
    for (let k = 0; k < length + RADIUS; k += 1) {
      if (k < length) {
        sum += values[i * row + k * next]
        used += 1
      }
      if (k > 2 * RADIUS) {
        sum -= values[i * row + (k - 2 * RADIUS - 1) * next]
        used -= 1
      }
      if (k >= RADIUS) result[i * row + (k - RADIUS) * next] = sum / used
    }
  }
  return result
}
