/** What one archive holds of the bytes that are read before their turn. */
export interface ReadAhead {
  /** Whether so many more bytes may be read now. */
  take(bytes: number): boolean
  /** They have had their turn. */
  give(bytes: number): void
  /** Gives all of them back; nothing is taken any more. */
  end(): void
}

/** Bounds what all archives together read ahead: their clients may be slow, or never come back for it. */
export function readAheadOf(maxBytes: number): () => ReadAhead {
  let left = maxBytes
  return () => {
    let taken = 0
    let ended = false
    const give = (bytes: number) => {
      left += bytes
      taken -= bytes
    }
    return {
      take(bytes) {
        if (ended || bytes > left) return false
        give(-bytes)
        return true
      },
      give,
      end() {
        ended = true
        give(taken)
      },
    }
  }
}
