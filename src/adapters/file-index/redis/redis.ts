import { storedKey } from '../../../core/files/object-key.ts'
import type { FileIndex, Totals } from '../../../core/ports/file-index.ts'
import { isSameInBucket } from '../../../core/ports/index/same-record.ts'
import type { DerivativeStart } from '../../../core/ports/index/steps.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { readDirectKeys } from '../direct-keys.ts'
import { boundsOf, LISTED_STATES, listed, placesOf } from '../positions.ts'
import { redisChanges } from './changes.ts'
import {
  derivativeEntry,
  derivativeJson,
  listedText,
  originalEntry,
  originalJson,
  tagText,
} from './entries.ts'
import { redisFolders } from './folders.ts'
import { keyNames } from './keys.ts'
import { filesBetween, listEntries } from './list.ts'
import { escapePattern, indexedFile, nameOf, ownerOf, refNamed } from './names.ts'
import { overdueIn } from './overdue.ts'
import { positionsIn } from './positions-in.ts'
import { dataKey, runOf, setMarks } from './run.ts'
import * as scripts from './scripts.ts'
import { searchMarks } from './search/former.ts'
import { redisSearch, searchText } from './search/search.ts'
import { tidySearch } from './search/tidy.ts'
import { redisUses, scoreOf } from './uses.ts'

/**
 * The index in Redis, for any number of processes. The work of a dead process is overdue after its lease or deadline.
 * Instants are those of the callers' clocks, which must agree within a few seconds.
 *
 * Each original has a hash with its entry and those of its derivatives, so a delete needs no search. One sorted set has all
 * unsettled entries. Each client has sorted sets with its lists, its folders, its search, and its derivatives by last use: see `step.ts`.
 * Each step is one script over these keys. So in a Redis Cluster all keys must be on one node, by a `keyPrefix` with a hash
 * tag: `{sluice}:`.
 *
 * The durability of a step depends on the persistence settings of Redis. The caller that opened the connection closes it.
 *
 * @param options.epoch for a partition: the epoch of the division by which it was chosen. Steps reject with StaleDivision when the
 *   client has another one. Without it, they are not checked
 */
export function redisIndex(
  redis: RedisConnection,
  { keyPrefix, epoch }: { keyPrefix: string; epoch?: number },
): FileIndex {
  const names = keyNames(keyPrefix)
  const { unsettled, changes, hashOf, totalsOf, listOf, usesOf, sumsOf, clientKeys } = names
  const keys = epoch === undefined ? names.keys : names.fencedKeys(epoch)
  const complete = `${keyPrefix}complete`
  const counted = `${keyPrefix}counted`
  const compared = `${keyPrefix}compared`
  const exist = async (...marks: string[]) =>
    (await redis.send((client) => client.exists(...marks))) === marks.length
  const marks = searchMarks(redis, names)

  return {
    ...redisChanges(redis, { set: changes, nameOf, refNamed }),
    ...redisUses(redis, { keys, nameOf, hashOf, usesOf, sumsOf }),
    ...redisFolders(redis, { keyPrefix, clientKeys }),
    ...redisSearch(redis, { keyPrefix }),
    canSearch: marks.canSearch,

    async find(ref, derivative) {
      const fields = derivative === undefined ? [''] : ['', derivative]
      const [first, second] = await redis.send((client) => client.hmget(hashOf(ref), ...fields))
      return {
        ...(first ? { original: originalEntry(ref.key, first) } : {}),
        ...(second && derivative ? { derivative: derivativeEntry(derivative, second) } : {}),
      }
    },

    async beginUpload(ref, leaseUntil) {
      if (!(await scripts.beginUpload(redis, keys(ref), [nameOf(ref), leaseUntil])))
        throw new Error(`${ref.key} is already in the index`)
    },
    async renewUpload(refs, leaseUntil) {
      const [first, ...others] = refs
      if (first) await scripts.renewUpload(redis, keys(first, ...others), [...refs.map(nameOf), leaseUntil])
    },
    async finishUpload(clientId, records, recordTags) {
      const refs = records.map(({ key }) => ({ clientId, key }))
      const [first, ...others] = refs
      if (!first) return true
      const texts = records.map((record) => originalJson(record, recordTags?.get(record.key)))
      const args = [...refs.map(nameOf), ...texts, ...records.map(searchText)]
      return (await scripts.finishUpload(redis, keys(first, ...others), args)) === 1
    },
    async adopt(clientId, record, trash, recordTag) {
      const ref = { clientId, key: record.key }
      const instants = trash ? [trash.until, trash.at] : []
      const json = originalJson(record, tagText(trash ? 'trashed' : 'stored', recordTag))
      const args = [nameOf(ref), json, searchText(record), ...instants]
      return originalEntry(ref.key, (await scripts.adopt(redis, keys(ref), args)) as string)
    },
    async enlist(clientId, record) {
      const ref = { clientId, key: record.key }
      await scripts.enlist(redis, keys(ref), [nameOf(ref), originalJson(record), searchText(record)])
    },
    async amend(clientId, record, amended, recordTag) {
      const ref = { clientId, key: record.key }
      const texts = [originalJson(record), originalJson(amended, recordTag), searchText(amended)]
      const keepsTag = recordTag === undefined && isSameInBucket(record, amended)
      return (await scripts.amend(redis, keys(ref), [nameOf(ref), ...texts, keepsTag ? 1 : 0])) === 1
    },
    async noteRecordTag(clientId, entry, recordTag) {
      if (!('record' in entry)) return false
      const ref = { clientId, key: entry.record.key }
      const args = [nameOf(ref), listedText(entry), listedText(entry, recordTag)]
      return (await scripts.noteRecordTag(redis, keys(ref), args)) === 1
    },
    async trash(ref, { at, until }) {
      const taken = (await scripts.trash(redis, keys(ref), [nameOf(ref), until, at])) as string[] | null
      return taken?.map(storedKey)
    },
    async restore(ref, now) {
      return (await scripts.restore(redis, keys(ref), [nameOf(ref), now])) === 1
    },

    async beginDerivative(ref, derivative, deadline, options) {
      const { atMost = '', uncounted = [] } = options ?? {}
      const args = [nameOf(ref), derivative, deadline, atMost, ...uncounted]
      return (await scripts.beginDerivative(redis, keys(ref), args)) as DerivativeStart
    },
    async finishDerivative(ref, record, use = { at: 0, isHeld: false }) {
      const args = [nameOf(ref), record.key, derivativeJson(record), scoreOf(use)]
      return (await scripts.finishDerivative(redis, keys(ref), args)) === 1
    },
    async adoptDerivative(ref, record, states = ['stored']) {
      const args = [nameOf(ref), record.key, derivativeJson(record), ...states]
      const entry = await scripts.adoptDerivative(redis, keys(ref), args)
      return entry === null ? undefined : derivativeEntry(record.key, entry as string)
    },
    async amendDerivative(ref, record, amended) {
      const args = [nameOf(ref), record.key, derivativeJson(record), derivativeJson(amended)]
      return (await scripts.amendDerivative(redis, keys(ref), args)) === 1
    },
    async dropDerivative(ref, derivative, deadline) {
      await scripts.dropDerivative(redis, keys(ref), [nameOf(ref), derivative, deadline])
    },

    async beginRemoval(ref, { cause, leaseUntil, now }) {
      const args = [nameOf(ref), cause, leaseUntil, now]
      const taken = (await scripts.beginRemoval(redis, keys(ref), args)) as string[] | null
      return taken?.map(storedKey)
    },
    async finishRemoval(ref, now) {
      return (await scripts.finishRemoval(redis, keys(ref), [nameOf(ref), now])) === 1
    },

    async look(ref) {
      return indexedFile(ref, await redis.send((client) => client.hgetall(hashOf(ref))))
    },
    list(clientId) {
      const prefix = `${keyPrefix}file:`
      return listEntries(redis, {
        pattern: `${escapePattern(clientId === undefined ? prefix : prefix + ownerOf(clientId))}*`,
        refIn: (name) => refNamed(name.slice(prefix.length)),
      })
    },

    filesBetween(clientId, range) {
      const lists = LISTED_STATES.map((state) => listOf(clientId, { state, by: 'key' }))
      return filesBetween(redis, { ...range, clientId, lists, hashOf })
    },

    async page(clientId, request) {
      const { state, limit } = request
      const positions = await positionsIn(redis, listOf(clientId, request), request, boundsOf(request))
      const places = placesOf(positions, request)
      const texts = await redis.send((client) =>
        Promise.all(places.map(({ key }) => client.hget(hashOf({ clientId, key }), ''))),
      )
      return {
        // Omit an original whose state has changed since the list was read.
        files: places.flatMap(({ key, position }, i) => {
          const entry = texts[i] ? originalEntry(key, texts[i]) : undefined
          return entry?.state === state ? [listed(entry, position)] : []
        }),
        next: positions.length < limit ? undefined : positions.at(-1),
      }
    },
    async directKeys(clientId, request) {
      const list = listOf(clientId, { state: request.state, by: 'key' })
      return readDirectKeys(
        (bounds, limit) => positionsIn(redis, list, { ...request, limit }, bounds),
        request,
      )
    },
    async totals(clientId) {
      const counts = await redis.send((client) => client.hgetall(totalsOf(clientId)))
      const totalOf = (state: keyof Totals) => ({
        files: Number(counts[`${state} files`] ?? 0),
        bytes: Number(counts[`${state} bytes`] ?? 0),
      })
      return { stored: totalOf('stored'), trashed: totalOf('trashed') }
    },
    isComplete: () => exist(complete),
    isCounted: () => exist(counted),
    isWhole: async () => (await exist(complete, counted)) && marks.canSearch(),
    async markComplete(name) {
      const { id, data } = await runOf(redis, { keyPrefix })
      if (name === undefined || name === id || name === data)
        await setMarks(redis, [dataKey(keyPrefix), complete, counted, marks.mark], [data])
    },
    async run() {
      const [run, noted] = await Promise.all([
        runOf(redis, { keyPrefix }),
        redis.send((client) => client.get(compared)),
      ])
      return { ...run, isCompared: run.id !== undefined && run.id === noted }
    },
    async noteCompared(run) {
      await redis.send((client) => client.set(compared, run))
    },

    overdue: (now) => overdueIn(redis, unsettled, now),
    upgrade: marks.upgrade,
    tidy: (options) => tidySearch(redis, names, options),
    async ping() {
      // A write, since a full Redis and a replica also answer PING.
      await redis.send((client) => client.set(`${keyPrefix}ping`, '', 'PX', 1000))
    },
    async close() {},
  }
}
