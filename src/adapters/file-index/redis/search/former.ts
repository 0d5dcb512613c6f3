import type { FileIndex } from '../../../../core/ports/file-index.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { originalEntry } from '../entries.ts'
import { escapePattern, ownerOf, refNamed } from '../names.ts'

const PAGE = 1000
const AT_ONCE = 100
// While an older process renames files, some remain for the next call.
const PASSES = 3

/** Whether the search has all originals. */
export interface SearchMarks {
  /** `1` when the search has all originals, `0` when it has all but those of the former search. */
  mark: string
  canSearch(clientId?: string): Promise<boolean>
  /** Enters what an older version has stored for its own search, and deletes it. */
  upgrade: FileIndex['upgrade']
}

/**
 * The search of version 1.0: the mark `searchable`, for each client a sorted set of terms, and a hash of the texts
 * of its originals. An older process that runs next to this version, or instead of it for a time, stores these again.
 */
export function searchMarks(
  redis: RedisConnection,
  { keyPrefix, adopt }: { keyPrefix: string; adopt: FileIndex['adopt'] },
): SearchMarks {
  const mark = `${keyPrefix}searchable:2`
  const formerMark = `${keyPrefix}searchable`
  const textsOf = (owner: string) => `${keyPrefix}texts:${owner}`
  const hashOf = (name: string) => `${keyPrefix}file:${name}`

  /** @returns whether all were entered */
  async function enterAll(owner: string, signal: AbortSignal) {
    for (let pass = 0; pass < PASSES; pass += 1) {
      for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
        signal.throwIfAborted()
        const page = await redis.send((client) => client.hscan(textsOf(owner), cursor, 'COUNT', AT_ONCE))
        cursor = page[0]
        for (let from = 0; from < page[1].length; from += 2 * AT_ONCE)
          await enter(owner, page[1].slice(from, from + 2 * AT_ONCE))
      }
      if ((await redis.send((client) => client.exists(textsOf(owner)))) === 0) return true
    }
    return false
  }

  /** @param fields the keys of originals, each with its texts */
  async function enter(owner: string, fields: readonly string[]) {
    const refs = fields.flatMap((key, i) => (i % 2 === 0 ? [refNamed(owner + key)] : []))
    const entries = await redis.send((client) =>
      Promise.all(refs.map(({ key }) => client.hget(hashOf(owner + key), ''))),
    )
    await Promise.all(
      refs.map(async ({ clientId, key }, i) => {
        const entry = entries[i] ? originalEntry(key, entries[i]) : undefined
        if (entry && 'record' in entry) await adopt(clientId, entry.record)
      }),
    )
    await deleteEqual(redis, [textsOf(owner)], fields)
  }

  return {
    mark,
    async canSearch(clientId) {
      const [value, ...former] = await redis.send((client) =>
        Promise.all([
          client.get(mark),
          client.exists(formerMark),
          ...(clientId === undefined ? [] : [client.exists(textsOf(ownerOf(clientId)))]),
        ]),
      )
      // An older process has added files. So all processes notice it, and one of them calls `upgrade`.
      if (former[1] === 1 && value === '1') await redis.send((client) => client.set(mark, '0', 'XX'))
      return value === '1' && !former.includes(1)
    },
    async upgrade(signal) {
      if ((await beginUpgrade(redis, [mark, formerMark], [])) !== 1) return
      let hasAll = true
      for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
        signal.throwIfAborted()
        const [next, names] = await redis.send((client) =>
          client.scan(cursor, 'MATCH', `${escapePattern(keyPrefix)}te[rx][mt]s:*`, 'COUNT', PAGE),
        )
        cursor = next
        for (const name of names) {
          const owner = name.slice(textsOf('').length)
          if (name !== textsOf(owner)) await redis.send((client) => client.unlink(name))
          else if (!(await enterAll(owner, signal))) hasAll = false
        }
      }
      if (hasAll) await endUpgrade(redis, [mark, formerMark], [])
    },
  }
}

/** KEYS: mark, former mark. The first write takes no memory, so a full Redis does not refuse it. @returns 1 when an upgrade is necessary */
const beginUpgrade = redisScript(`
if redis.call('DEL', KEYS[2]) == 1 then redis.call('SET', KEYS[1], '0') end
return redis.call('GET', KEYS[1]) == '0' and 1 or 0`)

/** KEYS: mark, former mark. */
const endUpgrade = redisScript(`
if redis.call('GET', KEYS[1]) == '0' and redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SET', KEYS[1], '1') end`)

/** KEYS: hash. ARGV: pairs of a field and its value. Deletes the fields that have this value. */
const deleteEqual = redisScript(`
for i = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) == ARGV[i + 1] then redis.call('HDEL', KEYS[1], ARGV[i]) end
end`)
