/** Random numbers of one seed. */
export interface Random {
  /** From 0 inclusive to 1 exclusive. */
  next(): number
  /** A whole number from 0 to `below` exclusive. */
  below(below: number): number
  /** Whether something of this probability happens. */
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
  fill(bytes: Uint8Array): void
}

/** Mulberry32, by Tommy Ettinger: 32 bits of state, fast, and good enough to choose between events. @param seed a whole number */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const word = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const next = () => word() / 2 ** 32
  const below = (most: number) => Math.floor(next() * most)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    fill(bytes) {
      for (let i = 0; i < bytes.length; i += 1) bytes[i] = word() & 0xff
    },
  }
}
