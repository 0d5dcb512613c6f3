import type { Log } from '../../core/log.ts'

/** What a piece of work has to remove at its end: temporary files. */
export interface Leftovers {
  /** @param remove called once, when they are removed */
  add(remove: () => Promise<void>): void
  /** Throws nothing: what stays is removed at the next start. */
  remove(): Promise<void>
}

/** @param fields of what is logged */
export function createLeftovers(log: Log, fields: object): Leftovers {
  const left: Array<() => Promise<void>> = []
  return {
    add: (remove) => void left.push(remove),
    async remove() {
      for (const each of left.splice(0))
        await each().catch((err) =>
          log.warn({ err, ...fields }, 'a temporary file could not be deleted; the next start deletes it'),
        )
    },
  }
}
