// Files up to this size are read ahead. Of larger files, only the current one is open.
export const READ_AHEAD_MAX_BYTES = 1024 * 1024

/** The share of one archive in the memory for bytes that are read ahead. */
export interface ReadAhead {
  /** Reserves bytes. @returns false when there is not enough memory left */
  take(bytes: number): boolean
  /** Releases bytes: they were written, or could not be read. */
  giveBack(bytes: number): void
  /** Releases all bytes. After that, `take` returns false. */
  end(): void
}

/** Limits the bytes that all archives together read ahead: their clients may be slow, or stall forever. */
export function createReadAhead({ maxBytes }: { maxBytes: number }): () => ReadAhead {
  let left = maxBytes
  return () => {
    let taken = 0
    let ended = false
    const giveBack = (bytes: number) => {
      left += bytes
      taken -= bytes
    }
    return {
      take(bytes) {
        if (ended || bytes > left) return false
        left -= bytes
        taken += bytes
        return true
      },
      // After `end`, all bytes were already released.
      giveBack: (bytes) => (ended ? undefined : giveBack(bytes)),
      end() {
        ended = true
        giveBack(taken)
      },
    }
  }
}
