import sharp from 'sharp'

const BLOCK = 8
const STEP = 4
const C1 = (0.01 * 255) ** 2
const C2 = (0.03 * 255) ** 2
// An eye sees less of the colours than of the luminance: the weights of x264 and ffmpeg for 4:2:0.
const WEIGHTS = [4 / 6, 1 / 6, 1 / 6]

/** The planes of YCbCr of some pixels, on white where they are transparent. */
export async function planesOf(input, options) {
  const { data } = await sharp(input, options)
    .flatten({ background: '#fff' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const planes = [0, 1, 2].map(() => new Float32Array(data.length / 3))
  for (let i = 0, at = 0; at < data.length; i += 1, at += 3) {
    const [r, g, b] = [data[at], data[at + 1], data[at + 2]]
    planes[0][i] = 0.299 * r + 0.587 * g + 0.114 * b
    planes[1][i] = -0.168736 * r - 0.331264 * g + 0.5 * b
    planes[2][i] = 0.5 * r - 0.418688 * g - 0.081312 * b
  }
  return planes
}

/**
 * Structural similarity of two images of the same size, from 0 to 1: the mean over windows of 8 x 8 pixels, every 4
 * pixels.
 *
 * @see Wang, Bovik, Sheikh, Simoncelli: Image quality assessment, 2004
 */
export function ssim(a, b, { width, height }) {
  return WEIGHTS.reduce((sum, weight, i) => sum + weight * ssimOfPlane(a[i], b[i], { width, height }), 0)
}

function ssimOfPlane(a, b, { width, height }) {
  let sum = 0
  let count = 0
  for (let y = 0; y + BLOCK <= height; y += STEP) {
    for (let x = 0; x + BLOCK <= width; x += STEP) {
      let [sa, sb, saa, sbb, sab] = [0, 0, 0, 0, 0]
      for (let j = 0; j < BLOCK; j += 1) {
        const row = (y + j) * width + x
        for (let at = row; at < row + BLOCK; at += 1) {
          const [p, q] = [a[at], b[at]]
          sa += p
          sb += q
          saa += p * p
          sbb += q * q
          sab += p * q
        }
      }
      const n = BLOCK * BLOCK
      const [ma, mb] = [sa / n, sb / n]
      const [va, vb, cov] = [saa / n - ma * ma, sbb / n - mb * mb, sab / n - ma * mb]
      sum += ((2 * ma * mb + C1) * (2 * cov + C2)) / ((ma * ma + mb * mb + C1) * (va + vb + C2))
      count += 1
    }
  }
  return sum / count
}
