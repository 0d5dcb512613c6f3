import type { FileRef } from '../../../../core/files/file-ref.ts'
import { storedKey } from '../../../../core/files/object-key.ts'
import type { FileIndex } from '../../../../core/ports/file-index.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { ownerOf } from '../names.ts'
import { enterFormer } from '../scripts.ts'
import type { UpgradeLease } from '../upgrade-lease.ts'
import { textsIn } from './search.ts'

const AT_ONCE = 100
// One call converts about 30,000 files of a partition: 3 s.
const PAGES_MAX = 300

/** The names of the index's keys. */
export interface IndexNames {
  keyPrefix: string
  /** The keys of a step on one original. */
  keys(ref: FileRef): string[]
  /** The ref as scripts use it. */
  nameOf(ref: FileRef): string
  hashOf(ref: FileRef): string
}

/** Whether the search has all originals. */
export interface SearchMarks {
  /** Exists when the search has all originals, apart from those that remain to be converted. */
  mark: string
  canSearch: FileIndex['canSearch']
  upgrade: FileIndex['upgrade']
}

/**
 * The search of version 1.0: the mark `searchable`, for each client a sorted set `terms:` of terms, and a hash `texts:` of the texts
 * of its originals. An older process that runs next to this version, or instead of it for a time, stores these again.
 *
 * Version 1.0 relies on texts having terms. So one step renames the texts to `former:` and deletes the terms, which frees most of the
 * memory, and then the files in `former:` are entered one by one. The search of a client is complete when it has neither
 * `texts:` nor `former:`.
 */
export function searchMarks(
  redis: RedisConnection,
  { keyPrefix, keys, nameOf, hashOf }: IndexNames,
  { hold, release }: UpgradeLease,
): SearchMarks {
  const mark = `${keyPrefix}searchable:2`
  const formerMark = `${keyPrefix}searchable`
  const textsOf = (clientId: string) => `${keyPrefix}texts:${ownerOf(clientId)}`
  const termsOf = (clientId: string) => `${keyPrefix}terms:${ownerOf(clientId)}`
  const formerOf = (clientId: string) => `${keyPrefix}former:${ownerOf(clientId)}`
  /** The clients that may have data of an older version. */
  const due = new Set<string>()

  /** @returns whether there are files to convert */
  const claim = async (clientId: string) => {
    const isLeft = await claimTexts(redis, [textsOf(clientId), termsOf(clientId), formerOf(clientId)], [])
    if (isLeft !== 1) due.delete(clientId)
    return isLeft === 1
  }

  /**
   * Converts the files of a client, while this process has the lease. A file that an older process changes in the meantime remains for
   * another page.
   * @returns the pages that are left
   */
  async function convert(
    clientId: string,
    { signal, pages }: { signal: AbortSignal; pages: number },
  ): Promise<number> {
    const former = formerOf(clientId)
    for (let cursor = '0', left = pages; ; left -= 1) {
      signal.throwIfAborted()
      if (left === 0 || !(await hold())) return 0
      const page = await redis.send((client) => client.hscan(former, cursor, 'COUNT', AT_ONCE))
      cursor = page[0]
      for (const some of inParts(page[1].filter((_, i) => i % 2 === 0))) {
        const refs = some.map((key) => ({ clientId, key: storedKey(key) }))
        const entries = await redis.send((client) =>
          Promise.all(refs.map((ref) => client.hget(hashOf(ref), ''))),
        )
        await Promise.all(
          refs.map((ref, i) => {
            const entry = entries[i] ?? ''
            return enterFormer(redis, [...keys(ref), former], [nameOf(ref), entry, textsIn(ref.key, entry)])
          }),
        )
      }
      if (cursor === '0' && !(await claim(clientId))) return left - 1
    }
  }

  return {
    mark,
    async canSearch(clientId) {
      const isThere = (...names: string[]) => redis.send((client) => client.exists(...names))
      if (clientId === undefined) return (await isThere(mark, formerMark)) > 0
      const [isMarked, left] = await Promise.all([
        isThere(mark),
        isThere(textsOf(clientId), formerOf(clientId)),
      ])
      if (left > 0) due.add(clientId)
      return isMarked === 1 && left === 0
    },
    async upgrade(signal, clientIds) {
      // Version 1.0 must not trust its search any more, which lacks the files of this version.
      await replaceMark(redis, [formerMark, mark], [])
      for (const id of clientIds) due.add(id)
      const left: string[] = []
      for (const ids of inParts([...due])) {
        signal.throwIfAborted()
        const isLeft = await Promise.all(ids.map(claim))
        left.push(...ids.filter((_, i) => isLeft[i]))
      }
      // Without the lease, another process converts them.
      if (left.length === 0 || !(await hold())) return
      const errors: unknown[] = []
      let pages = PAGES_MAX
      for (const id of left) {
        if (pages === 0) break
        const converted = convert(id, { signal, pages })
        pages = await converted.catch((error) => {
          errors.push(error)
          return pages
        })
      }
      await release()
      if (errors.length > 0) throw errors[0]
    },
  }
}

function inParts<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, i) =>
    all.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  )
}

// The first write of each of these scripts takes no memory, so a full Redis does not refuse it.

/** KEYS: former mark, mark. */
const replaceMark = redisScript(`
if redis.call('DEL', KEYS[1]) == 1 then redis.call('SET', KEYS[2], '1') end`)

/** KEYS: texts, terms, former texts. While there are former texts, new ones retain their terms. @returns 1 when there are former texts */
const claimTexts = redisScript(`
if redis.call('EXISTS', KEYS[3]) == 1 then return 1 end
redis.call('UNLINK', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('RENAME', KEYS[1], KEYS[3])
return 1`)
