/** Width to height. */
export function ratioOf([width = 1, height = 1]: readonly number[]): number {
  return width / height
}

// Decimals that count: 1.7778:1 is 16:9 to a pixel in 5000.
const DECIMALS = 10_000

/** The same ratio in the smallest whole numbers: `32:18` and `1.6:0.9` are `16:9`. */
export function reducedRatio([width = 1, height = 1]: readonly number[]): [width: number, height: number] {
  const [across, down] = [Math.round(width * DECIMALS), Math.round(height * DECIMALS)]
  const divisor = greatestDivisor(across, down)
  return [across / divisor, down / divisor]
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}
