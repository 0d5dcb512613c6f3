// The first try, and six that halve what is left: from 100 they come down to 1.
const MOST_TRIES = 7

/**
 * Searches the highest quality whose outcome has at most `maxBytes`, by halving: at most seven tries, so that the one
 * found is at most two steps below the best. Sizes are taken to grow with the quality.
 *
 * @param options `from`: the highest that may be; `bytesOf` makes the outcome of a quality, and tells how large it is
 * @returns the quality found, from 1; 1 as well when even that is too large
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
