import type { Log } from '../../core/log.ts'

/** The temporary files of one transformation, to be removed at its end. */
export interface Leftovers {
  /** Registers a file. @param remove called once, by {@link Leftovers.remove} */
  add(remove: () => Promise<void>): void
  /** Removes all of them. Never throws: files that remain are removed at the next start. */
  remove(): Promise<void>
}

/** @param fields logged when a file cannot be removed */
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
