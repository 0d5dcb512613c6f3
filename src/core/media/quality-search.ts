// The first try, and six that halve the rest: enough to get from 100 down to 1.
const MOST_TRIES = 7

/**
 * Searches for the highest quality whose output has at most `maxBytes`, by halving. It takes at most seven tries, so
 * that the result is at most two steps below the best. It assumes that the size grows with the quality.
 *
 * @param options `from`: the highest quality; `bytesOf` renders the output of a quality and returns its size in bytes
 * @returns the quality found, from 1; also 1 when its output is still too large
 */
export async function searchQuality({
  from,
  maxBytes,
  bytesOf,
}: {
  from: number
  maxBytes: number
  bytesOf: (quality: number) => Promise<number>
}): Promise<number> {
  if ((await bytesOf(from)) <= maxBytes) return from
  let [fits, tooMuch] = [0, from]
  for (let tries = 1; tries < MOST_TRIES && tooMuch - fits > 1; tries += 1) {
    const quality = Math.floor((fits + tooMuch) / 2)
    if ((await bytesOf(quality)) <= maxBytes) fits = quality
    else tooMuch = quality
  }
  return fits === 0 ? tooMuch : fits
}
