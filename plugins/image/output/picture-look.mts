/** Pixels of one still image, row by row, of 8 bits per channel. */
export interface Pixels {
  data: Buffer
  width: number
  height: number
  channels: number
}

/** What an encoder can make use of. */
export interface PictureLook {
  /** Whether it is drawn: a logo, a chart, a screenshot. No photo: most neighbours are equal. */
  isDrawing: boolean
  /** Whether it has large areas of few colours, which lossless formats compress best. */
  isPlain: boolean
  isGrey: boolean
  isOpaque: boolean
}

// Drawings have 0.71 (a screenshot with photos) to 0.99, photos up to 0.1.
const DRAWING_FROM = 0.5
// From here on, lossless WebP is smaller than lossy WebP for some drawings.
const PLAIN_FROM = 0.96
const PALETTE_SIZE = 256
// Of all rows. The share of equal neighbours is the same in a part of them.
const ROWS_AT_MOST = 300

/** Looks at the pixels: in some milliseconds for a megapixel. */
export function lookOf(pixels: Pixels): PictureLook {
  const flat = flatShare(pixels)
  return {
    isDrawing: flat >= DRAWING_FROM,
    isPlain: flat >= PLAIN_FROM || (flat >= DRAWING_FROM && hasFewColours(pixels)),
    isGrey: isGrey(pixels),
    isOpaque: isOpaque(pixels),
  }
}

/** The share of pixels that are equal to their left neighbour. */
function flatShare({ data, width, height, channels }: Pixels): number {
  const step = Math.max(1, Math.floor(height / ROWS_AT_MOST))
  let [equal, count] = [0, 0]
  for (let y = 0; y < height; y += step) {
    const end = (y + 1) * width * channels
    for (let at = (y * width + 1) * channels; at < end; at += channels) {
      let isEqual = true
      for (let i = at; isEqual && i < at + channels; i += 1) isEqual = data[i] === data[i - channels]
      if (isEqual) equal += 1
      count += 1
    }
  }
  return count === 0 ? 0 : equal / count
}

function hasFewColours({ data, channels }: Pixels): boolean {
  const colours = new Set<number>()
  let last = -1
  for (let at = 0; at < data.length; at += channels) {
    let colour = 0
    for (let i = at; i < at + channels; i += 1) colour = colour * 256 + (data[i] ?? 0)
    if (colour === last) continue
    last = colour
    colours.add(colour)
    if (colours.size > PALETTE_SIZE) return false
  }
  return true
}

function isGrey({ data, channels }: Pixels): boolean {
  if (channels < 3) return true
  for (let at = 0; at < data.length; at += channels)
    if (data[at] !== data[at + 1] || data[at] !== data[at + 2]) return false
  return true
}

function isOpaque({ data, channels }: Pixels): boolean {
  if (channels % 2 === 1) return true
  for (let at = channels - 1; at < data.length; at += channels) if (data[at] !== 255) return false
  return true
}

// The mean of structural similarity below which a palette is visible as bands.
const SIMILAR = 0.999
// Of the mean of a block, in 256 steps. Similarity hardly sees it where the block has no details.
const MOST_SHIFT = 2
const BLOCK = 8
// Of ITU-R BT.601.
const LUMA = [0.299, 0.587, 0.114]
const C1 = (0.01 * 255) ** 2
const C2 = (0.03 * 255) ** 2

/**
 * Whether two images of the same size look the same: by the structural similarity of their luminance, and their alpha,
 * in blocks of 8 x 8 pixels.
 *
 * @see Wang, Bovik, Sheikh, Simoncelli: Image quality assessment, 2004
 */
export function looksTheSame(one: Pixels, other: Pixels): boolean {
  const { width, height } = one
  const [a, b] = [lumaOf(one), lumaOf(other)]
  let [sum, count] = [0, 0]
  for (let top = 0; top < height; top += BLOCK)
    for (let left = 0; left < width; left += BLOCK) {
      const block = {
        left,
        top,
        right: Math.min(width, left + BLOCK),
        bottom: Math.min(height, top + BLOCK),
        width,
      }
      const { similarity, shift } = compared(a, b, block)
      if (shift > MOST_SHIFT) return false
      sum += similarity
      count += 1
    }
  return sum / count >= SIMILAR
}

/** Over a background of middle grey, so that differences of alpha count. */
function lumaOf({ data, channels }: Pixels): Float32Array {
  const luma = new Float32Array(data.length / channels)
  for (let i = 0, at = 0; i < luma.length; i += 1, at += channels) {
    const value =
      channels < 3 ? (data[at] ?? 0) : LUMA.reduce((sum, weight, c) => sum + weight * (data[at + c] ?? 0), 0)
    const alpha = channels % 2 === 0 ? (data[at + channels - 1] ?? 0) / 255 : 1
    luma[i] = value * alpha + 128 * (1 - alpha)
  }
  return luma
}

/** The similarity of a block, and by how much it is brighter or darker. */
function compared(
  a: Float32Array,
  b: Float32Array,
  {
    left,
    top,
    right,
    bottom,
    width,
  }: { left: number; top: number; right: number; bottom: number; width: number },
): { similarity: number; shift: number } {
  let [sa, sb, saa, sbb, sab] = [0, 0, 0, 0, 0]
  for (let y = top; y < bottom; y += 1)
    for (let at = y * width + left; at < y * width + right; at += 1) {
      const [p, q] = [a[at] ?? 0, b[at] ?? 0]
      sa += p
      sb += q
      saa += p * p
      sbb += q * q
      sab += p * q
    }
  const n = (right - left) * (bottom - top)
  const [ma, mb] = [sa / n, sb / n]
  const [va, vb, cov] = [saa / n - ma * ma, sbb / n - mb * mb, sab / n - ma * mb]
  return {
    similarity: ((2 * ma * mb + C1) * (2 * cov + C2)) / ((ma * ma + mb * mb + C1) * (va + vb + C2)),
    shift: Math.abs(ma - mb),
  }
}
