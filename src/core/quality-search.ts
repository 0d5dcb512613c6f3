// The first try, and six that halve what is left: from 100 they come down to 1.
const MOST_TRIES = 7

/**
 * Searches the highest quality whose outcome has at most `maxBytes`, by halving: at most seven tries, so that the one
 * found is at most two steps below the best. Sizes are taken to grow with the quality.
 *
 * @param options `from`: the highest that may be; `attempt` makes the outcome of a quality
 * @returns the outcome found; when even quality 1 is too large, that one
 */
export async function searchQuality<T>({
  from,
  maxBytes,
  attempt,
}: {
  from: number
  maxBytes: number
  attempt: (quality: number) => Promise<{ outcome: T; bytes: number }>
}): Promise<T> {
  let { outcome, bytes } = await attempt(from)
  if (bytes <= maxBytes) return outcome
  let [fits, tooMuch] = [0, from]
  for (let tries = 1; tries < MOST_TRIES && tooMuch - fits > 1; tries += 1) {
    const quality = Math.floor((fits + tooMuch) / 2)
    const tried = await attempt(quality)
    if (tried.bytes <= maxBytes) fits = quality
    else tooMuch = quality
    if (tried.bytes <= maxBytes || fits === 0) ({ outcome, bytes } = tried)
  }
  return outcome
}
