/**
 * The operations of the network. Images are arrays of rows of pixels of channels, `[1, height, width, channels]`.
 *
 * @type {Record<string, (inputs: { shape: number[], values: Float32Array }[], output: { shape: number[], stride: number }) => Float32Array>}
 */
export const OPERATIONS = {
  add: ([one, other]) => one.values.map((value, i) => value + other.values[i]),
  // The second image has a pixel, or as many as the first.
  multiply: ([one, { values }]) => one.values.map((value, i) => value * values[i % values.length]),
  relu: ([{ values }]) => values.map((value) => (value > 0 ? value : 0)),
  hardSwish: ([{ values }]) => values.map((value) => (value * Math.min(6, Math.max(0, value + 3))) / 6),
  sigmoid: ([{ values }]) => values.map((value) => 1 / (1 + Math.exp(-value))),
  average,
  convolve,
  convolveEach,
  enlarge,
  spread,
}

/** The average of all pixels. */
function average([{ values }], { shape }) {
  const channels = shape[3]
  const sums = new Float32Array(channels)
  for (let i = 0; i < values.length; i += 1) sums[i % channels] += values[i]
  return sums.map((sum) => (sum * channels) / values.length)
}

/** Each output channel is a sum over a window of all input channels. Outside of the image, all is zero. */
function convolve([image, kernel, bias], { shape: [, height, width, channels], stride }) {
  const [, rows, columns, depth] = image.shape
  const [, windowHeight, windowWidth] = kernel.shape
  const [top, left] = margins([rows, columns], [height, width], [windowHeight, windowWidth], stride)
  const { values } = image
  const { values: weights } = kernel
  const windowSize = windowHeight * windowWidth * depth
  const window = new Float32Array(windowSize)
  const result = new Float32Array(height * width * channels)
  for (let y = 0, at = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      let filled = 0
      for (let dy = 0; dy < windowHeight; dy += 1)
        for (let dx = 0; dx < windowWidth; dx += 1) {
          const [row, column] = [y * stride + dy - top, x * stride + dx - left]
          const isInside = row >= 0 && row < rows && column >= 0 && column < columns
          const start = (row * columns + column) * depth
          for (let channel = 0; channel < depth; channel += 1)
            window[filled++] = isInside ? values[start + channel] : 0
        }
      for (let channel = 0, weight = 0; channel < channels; channel += 1) {
        let sum = bias.values[channel]
        for (let i = 0; i < windowSize; i += 1) sum += window[i] * weights[weight++]
        result[at++] = sum
      }
    }
  return result
}

/** Each channel is a sum over a window of itself. */
function convolveEach([image, kernel, bias], { shape: [, height, width, channels], stride }) {
  const [, rows, columns] = image.shape
  const [, windowHeight, windowWidth] = kernel.shape
  const [top, left] = margins([rows, columns], [height, width], [windowHeight, windowWidth], stride)
  const { values } = image
  const { values: weights } = kernel
  const result = new Float32Array(height * width * channels)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * channels
      for (let channel = 0; channel < channels; channel += 1) result[at + channel] = bias.values[channel]
      for (let dy = 0; dy < windowHeight; dy += 1) {
        const row = y * stride + dy - top
        if (row < 0 || row >= rows) continue
        for (let dx = 0; dx < windowWidth; dx += 1) {
          const column = x * stride + dx - left
          if (column < 0 || column >= columns) continue
          const start = (row * columns + column) * channels
          const weight = (dy * windowWidth + dx) * channels
          for (let channel = 0; channel < channels; channel += 1)
            result[at + channel] += values[start + channel] * weights[weight + channel]
        }
      }
    }
  return result
}

/** The rows above the image and the columns left of it that the first window has: half of all that are missing. */
function margins(sizes, outputSizes, windows, stride) {
  return sizes.map((size, i) =>
    Math.floor(Math.max(0, (outputSizes[i] - 1) * stride + windows[i] - size) / 2),
  )
}

/** Doubles the size, with pixels between the others. */
function enlarge([{ shape, values }], { shape: [, height, width, channels] }) {
  const [, rows, columns] = shape
  const result = new Float32Array(height * width * channels)
  for (let y = 0, at = 0; y < height; y += 1) {
    const [above, below, down] = between(y, height, rows)
    for (let x = 0; x < width; x += 1) {
      const [left, right, across] = between(x, width, columns)
      for (let channel = 0; channel < channels; channel += 1) {
        const value = (row, column) => values[(row * columns + column) * channels + channel]
        const upper = value(above, left) * (1 - across) + value(above, right) * across
        const lower = value(below, left) * (1 - across) + value(below, right) * across
        result[at++] = upper * (1 - down) + lower * down
      }
    }
  }
  return result
}

/**
 * The two pixels of a side of `size` between which this pixel of a side of `outputSize` is, and its distance from the first.
 *
 * @returns {[number, number, number]}
 */
export function between(position, outputSize, size) {
  const exact = Math.min(size - 1, Math.max(0, ((position + 0.5) * size) / outputSize - 0.5))
  const first = Math.floor(exact)
  return [first, Math.min(size - 1, first + 1), exact - first]
}

/** Each pixel becomes as many pixels as the kernel has. */
function spread([image, kernel, bias], { shape: [, height, width, channels] }) {
  const [, rows, columns, depth] = image.shape
  const [, windowHeight, windowWidth] = kernel.shape
  const result = new Float32Array(height * width * channels)
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1)
      for (let dy = 0; dy < windowHeight; dy += 1)
        for (let dx = 0; dx < windowWidth; dx += 1)
          for (let channel = 0; channel < channels; channel += 1) {
            let sum = bias.values[channel]
            const start = (row * columns + column) * depth
            const weight = ((channel * windowHeight + dy) * windowWidth + dx) * depth
            for (let i = 0; i < depth; i += 1) sum += image.values[start + i] * kernel.values[weight + i]
            result[((row * windowHeight + dy) * width + column * windowWidth + dx) * channels + channel] = sum
          }
  return result
}
