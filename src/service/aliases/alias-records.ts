import { Readable } from 'node:stream'
import type { Alias } from '../../core/aliases/alias.ts'
import { aliasRecordKey } from '../../core/aliases/name.ts'
import { parseAlias, serializeAlias } from '../../core/aliases/record.ts'
import { withExclusiveLock } from '../../core/async/cross-process-mutex.ts'
import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import type { Client } from '../../core/clients/client.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { deleteAll } from '../originals/delete-objects.ts'

/** The records of aliases in the bucket of their client. They are the source of truth; the index has no aliases. */
export interface AliasRecords {
  /** @returns undefined when there is no such alias @throws Error for a damaged record, Problem 503 */
  read(client: Client, name: string): Promise<Alias | undefined>
  /** The same for deliveries: changes by other processes are seen up to a second later. */
  readSoon(client: Client, name: string): Promise<Alias | undefined>
  /** Runs `work` while no other request changes the alias, across all processes. */
  change<T>(
    client: Client,
    name: string,
    work: (record: LockedAlias) => Promise<T>,
    options: { signal: AbortSignal },
  ): Promise<T>
}

/** An alias while no other request changes it. */
export interface LockedAlias {
  /** As {@link AliasRecords.read}. */
  read(): Promise<Alias | undefined>
  put(alias: Alias): Promise<void>
  delete(): Promise<void>
}

// Long enough that a popular alias costs one read of the bucket per second, short compared with the lifetime in caches.
const REUSED_MS = 1000
const REUSED_MAX_BYTES = 5_000_000
const ALIAS_BYTES = 1000
// Time for a few requests to a slow S3 and to the index.
const LIMIT_MS = 15_000

export function createAliasRecords({
  buckets,
  locks,
  now = Date.now,
}: {
  buckets: Buckets
  locks: Locks
  now?: () => number
}): AliasRecords {
  const reads = boundedCache<{ begunAt: number; alias: Promise<Alias | undefined> }>({
    maxBytes: REUSED_MAX_BYTES,
    bytesOf: () => ALIAS_BYTES,
  })
  const placeOf = ({ id }: Client, name: string) => `${id} ${name}`

  async function read(client: Client, name: string): Promise<Alias | undefined> {
    const key = aliasRecordKey(name)
    const record = await snapshot(buckets.of(client), key)
    return record && parseAlias(key, record.bytes)
  }

  /** Forgets reads that began before a change, also those that are still in progress. */
  async function changed(client: Client, name: string, work: () => Promise<void>): Promise<void> {
    await work().finally(() => reads.delete(placeOf(client, name)))
  }

  return {
    read,

    readSoon(client, name) {
      const place = placeOf(client, name)
      const known = reads.get(place)
      if (known && now() < known.begunAt + REUSED_MS) return known.alias
      const alias = read(client, name)
      const entry = { begunAt: now(), alias }
      reads.set(place, entry)
      const forget = () => reads.peek(place) === entry && reads.delete(place)
      // Names that do not exist must not replace those that do.
      alias.then((found) => found ?? forget(), forget)
      return alias
    },

    change: (client, name, work, { signal }) =>
      withExclusiveLock(
        locks,
        `alias ${client.id} ${name}`,
        (held) =>
          work({
            read: () => read(client, name),
            put: (alias) =>
              changed(client, name, () =>
                buckets.of(client).put(aliasRecordKey(name), Readable.from([serializeAlias(alias)]), {
                  mediaType: 'application/json',
                  signal: held,
                }),
              ),
            delete: () => changed(client, name, () => deleteAll(buckets.of(client), [aliasRecordKey(name)])),
          }),
        { signal, limitMs: LIMIT_MS },
      ),
  }
}
