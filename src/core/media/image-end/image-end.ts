import type { Format } from '../formats.ts'
import { gifEnd } from './gif.ts'
import { jpegEnd } from './jpeg.ts'
import { pngEnd } from './png.ts'
import type { Walk, Wish } from './walk.ts'

/** Watches the bytes of a picture go by, to find out whether the file ends before its picture does. */
export interface EndWatch {
  /** Takes the next bytes, in pieces of any length. */
  add(bytes: Uint8Array): void
  /**
   * Whether the bytes so far have some of the pixels, but lack the end of the picture. False for a file whose structure is
   * broken otherwise.
   */
  isTruncated(): boolean
}

const WALKS: Readonly<Record<string, () => Walk>> = { jpeg: jpegEnd, png: pngEnd, gif: gifEnd }

/** A watch for a file of this format: a JPEG, a PNG or a GIF. Undefined for any other format. */
export function watchEnd({ name }: Format): EndWatch | undefined {
  const walk = WALKS[name]?.()
  return walk && watch(walk)
}

// A picture of 40 MB takes 400,000 steps, in 100 ms. A file of tiny blocks is given up after half a second in total.
const MAX_STEPS = 2_000_000

function watch(walk: Walk): EndWatch {
  let step = walk.next()
  let steps = 0
  let isGivenUp = false
  let hasPixels = false
  // Bytes of a wish that the pieces before have not fulfilled.
  let taken: number[] = []
  let skipped = 0

  /** Fulfils a wish with the bytes from `at`. @returns where the next one begins; undefined when more bytes are needed */
  function fulfil(wish: Wish, bytes: Uint8Array, at: number): number | undefined {
    if ('find' in wish) {
      const found = bytes.indexOf(wish.find, at)
      if (found === -1) return undefined
      step = walk.next()
      return found + 1
    }
    if ('skip' in wish) {
      const end = at + wish.skip - skipped
      skipped += bytes.length - at
      if (end > bytes.length) return undefined
      skipped = 0
      step = walk.next()
      return end
    }
    const end = at + wish.take - taken.length
    if (taken.length > 0 || end > bytes.length) taken.push(...bytes.subarray(at, end))
    if (end > bytes.length) return undefined
    const given = taken.length > 0 ? Uint8Array.from(taken) : bytes.subarray(at, end)
    taken = []
    step = walk.next(given)
    return end
  }

  return {
    add(bytes) {
      for (let at: number | undefined = 0; at !== undefined && !step.done && !isGivenUp; steps += 1) {
        if ('ofPixels' in step.value && step.value.ofPixels && at < bytes.length) hasPixels = true
        at = fulfil(step.value, bytes, at)
        isGivenUp = steps > MAX_STEPS
      }
    },
    isTruncated: () => !step.done && !isGivenUp && hasPixels,
  }
}
