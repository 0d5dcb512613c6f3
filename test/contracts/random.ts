/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** A whole number from 0, below `limit`. */
  below(limit: number): number
  oneOf<T>(items: readonly T[]): T
}

/** Mulberry32: 32 bits of state are plenty for a test. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return { below, oneOf: <T>(items: readonly T[]) => items[below(items.length)] as T }
}
