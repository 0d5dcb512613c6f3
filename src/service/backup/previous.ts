import { type BackupEntry, byOrder } from './manifest.ts'

/** The entries of the previous backup, read in step with the list of the bucket. */
export interface PreviousEntries {
  /** The entry of this record. It must come after those of earlier calls. */
  at(place: Pick<BackupEntry, 'client' | 'key'>): Promise<BackupEntry | undefined>
  /** Reads the remaining entries. */
  end(): Promise<void>
}

/** @param entries in the order of {@link byOrder} @param passed called for each entry whose record is not in the bucket any more */
export function entriesFrom(
  entries: AsyncIterable<BackupEntry> | Iterable<BackupEntry>,
  passed: (entry: BackupEntry) => void,
): PreviousEntries {
  const reading = read(entries)
  let next: BackupEntry | undefined
  const advance = async () => {
    next = (await reading.next()).value
  }
  let begun = false
  const begin = async () => {
    if (begun) return
    begun = true
    await advance()
  }
  return {
    async at(place) {
      await begin()
      for (; next && byOrder(next, place) < 0; await advance()) passed(next)
      if (!next || byOrder(next, place) !== 0) return undefined
      const found = next
      await advance()
      return found
    },
    async end() {
      await begin()
      for (; next; await advance()) passed(next)
    },
  }
}

async function* read(
  entries: AsyncIterable<BackupEntry> | Iterable<BackupEntry>,
): AsyncGenerator<BackupEntry, undefined> {
  yield* entries
  return undefined
}
