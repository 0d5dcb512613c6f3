import { setTimeout as pause } from 'node:timers/promises'
import type { Asset } from '../../core/bytes/asset.ts'
import { Problem } from '../../core/problem.ts'
import { TOO_SLOW } from '../../core/transform-problems.ts'

/** Pixels of one source, shared by all that render from it at the same moment. */
export interface SharedPixels {
  /**
   * Runs `work` with the shared pixels, or without them when no other call renders from this source, or when they cannot be
   * decoded: then `work` uses the source itself. The last one that leaves frees the pixels.
   *
   * @throws Problem 422 when a slow source takes too long
   * @param source.isSlow a decode that takes too long is not tried again without the pixels
   * @param source.isForSeveral decodes the pixels at once for this call, which is about to make another one
   * @param source.bytes the memory that the pixels will need
   * @param source.decode renders the pixels; called at most once for all that share them
   */
  use<T>(source: SharedSource, work: (pixels: Asset | undefined) => Promise<T>): Promise<T>
}

/** A source whose pixels are shared. */
export interface SharedSource {
  name: string
  bytes: number
  isSlow: boolean
  isForSeveral: boolean
  decode: () => Promise<Asset>
  signal: AbortSignal
}

interface Group {
  users: number
  bytes: number
  pixels?: Promise<Asset | undefined> | undefined
}

// A page that shows a picture in several widths requests them at once. Most pictures are requested in one width, which waits in vain.
const GATHER_MS = 2
// Three copies of 2560 x 2560 pixels.
const MAX_BYTES = 64_000_000

/** @param gatherMs how long the first one waits for others */
export function createSharedPixels({ gatherMs = GATHER_MS, maxBytes = MAX_BYTES } = {}): SharedPixels {
  const groups = new Map<string, Group>()
  let heldBytes = 0

  function begin({ bytes, isSlow, decode }: SharedSource, group: Group) {
    if (heldBytes + bytes > maxBytes) return undefined
    heldBytes += bytes
    group.bytes = bytes
    return decode().catch((error) => {
      // Without the pixels, it would take as long again.
      if (isSlow && error instanceof Problem && error.members.reason === TOO_SLOW) throw error
      // Another error that concerns the source appears again when it is rendered without the pixels.
      return undefined
    })
  }

  function leave(name: string, group: Group): void {
    group.users -= 1
    if (group.users > 0) return
    groups.delete(name)
    heldBytes -= group.bytes
  }

  return {
    async use(source, work) {
      const { name, isForSeveral, signal } = source
      const group = groups.get(name) ?? { users: 0, bytes: 0 }
      groups.set(name, group)
      group.users += 1
      try {
        if (group.users === 1 && !isForSeveral) await pause(gatherMs, undefined, { signal })
        if (group.users > 1 || isForSeveral) group.pixels ??= begin(source, group)
        return await work(await group.pixels)
      } finally {
        leave(name, group)
      }
    },
  }
}
