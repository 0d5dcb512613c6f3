import type { ResilientLevel, Row } from '../../../src/adapters/level/resilient-level.ts'
import { byBytes } from '../../../src/core/text/byte-order.ts'

interface Change {
  at: number
  name: string
  before: unknown
}

/** Rows in memory, which can lose their last changes. */
export interface LossyLevel extends ResilientLevel {
  /** Undoes everything since `time`, as after a failover to a replica that was behind. */
  rewind(time: number): void
  /** Loses all rows. */
  empty(): void
}

/** @param time of the clock, in milliseconds */
export function lossyLevel(time: () => number): LossyLevel {
  const rows = new Map<string, unknown>()
  const changes: Change[] = []
  let sorted: string[] | undefined

  function set(name: string, value: unknown): void {
    if (rows.has(name) !== (value !== undefined)) sorted = undefined
    if (value === undefined) rows.delete(name)
    else rows.set(name, value)
  }

  function between({ gt, lt }: { gt: string; lt: string }): string[] {
    sorted ??= [...rows.keys()].sort(byBytes)
    return sorted.slice(placeAfter(sorted, gt), placeOf(sorted, lt))
  }

  return {
    get: async (names) => names.map((name) => copyOf(rows.get(name))),
    rows: async ({ limit, ...range }) =>
      between(range)
        .slice(0, limit)
        .map((name) => [name, copyOf(rows.get(name))]),
    async names({ limit, reverse = false, ...range }) {
      const names = between(range)
      return (reverse ? names.reverse() : names).slice(0, limit)
    },
    async write(batch: Row[]) {
      for (const one of batch) {
        changes.push({ at: time(), name: one.key, before: rows.get(one.key) })
        set(one.key, one.type === 'put' ? copyOf(one.value) : undefined)
      }
    },
    rewind(to) {
      for (let last = changes.at(-1); last && last.at >= to; last = changes.at(-1)) {
        set(last.name, last.before)
        changes.pop()
      }
    },
    empty() {
      rows.clear()
      changes.length = 0
      sorted = undefined
    },
    replacements: () => 0,
    close: async () => {},
  }
}

/** Values are JSON in the real store. */
function copyOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : value
}

/** The first place whose name is not before `name`. */
function placeOf(sorted: readonly string[], name: string): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (byBytes(sorted[middle] as string, name) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function placeAfter(sorted: readonly string[], name: string): number {
  const place = placeOf(sorted, name)
  return sorted[place] === name ? place + 1 : place
}
