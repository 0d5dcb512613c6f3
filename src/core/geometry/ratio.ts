import { badParameter } from '../problem.ts'

/** Returns width divided by height. */
export function ratioOf([width = 1, height = 1]: readonly number[]): number {
  return width / height
}

// Decimals that count: 1.7778:1 equals 16:9 to one pixel in 5000.
const DECIMALS = 10_000

/** Returns the same ratio in the smallest whole numbers: `32:18` and `1.6:0.9` become `16:9`. */
export function reducedRatio([width = 1, height = 1]: readonly number[]): [width: number, height: number] {
  const [across, down] = [Math.round(width * DECIMALS), Math.round(height * DECIMALS)]
  const divisor = greatestDivisor(across, down)
  return [across / divisor, down / divisor]
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

/**
 * Replaces an aspect ratio and one side by both sides.
 *
 * @throws Problem 400 when the other side would have no pixels, or more than the limit
 */
export function withRatio({ w, h, ar }: Sides, maxSide: number): Sides {
  if (ar === undefined || (w !== undefined && h !== undefined)) return { w, h, ar: undefined }
  if (w === undefined && h === undefined) return { w, h, ar: reducedRatio(ar) }
  const ratio = ratioOf(ar)
  const sides = {
    w: w ?? Math.round(Number(h) * ratio),
    h: h ?? Math.round(Number(w) / ratio),
    ar: undefined,
  }
  if (Math.min(sides.w, sides.h) >= 1 && Math.max(sides.w, sides.h) <= maxSide) return sides
  const expected = `a ratio that keeps w and h from 1 to ${maxSide} px`
  throw badParameter({ param: 'ar', expected, received: `${ar.join(':')} (${sides.w} x ${sides.h} px)` })
}

export interface Sides {
  w: number | undefined
  h: number | undefined
  ar: readonly number[] | undefined
}
