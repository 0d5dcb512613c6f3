/** What one archive holds of the bytes that are read before their turn. */
export interface ReadAhead {
  /** Whether so many more bytes may be read now. */
  take(bytes: number): boolean
  /** They have had their turn, or could not be read. */
  giveBack(bytes: number): void
  /** Gives all of them back; nothing is taken any more. */
  end(): void
}

/** Bounds what all archives together read ahead: their clients may be slow, or never come back for it. */
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
      // After its end all has been given back.
      giveBack: (bytes) => (ended ? undefined : giveBack(bytes)),
      end() {
        ended = true
        giveBack(taken)
      },
    }
  }
}
