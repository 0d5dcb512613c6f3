import type { FileRef } from '../../../core/files/file-ref.ts'
import type { ObjectKey } from '../../../core/files/object-key.ts'
import type { FileIndex, OriginalRecord } from '../../../core/ports/file-index.ts'
import type { Totals } from '../../../core/ports/index/listed-state.ts'
import { isSameInBucket } from '../../../core/ports/index/same-record.ts'
import type { DerivativeStart } from '../../../core/ports/index/steps.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { redisChanges } from './changes.ts'
import {
  derivativeBody,
  derivativeEntry,
  derivativeNamed,
  nameIn,
  packedDerivative,
} from './entries/derivatives.ts'
import { bodyOf, originalEntry, packedListed } from './entries/originals.ts'
import { joined, PIECES } from './entries/pieces.ts'
import { redisFolders } from './folders.ts'
import { hashPrefix, keyNames } from './keys.ts'
import { removeFormer } from './layout.ts'
import { listEntries } from './list.ts'
import { entireHashes, fieldsIn, readHashes } from './lists/originals.ts'
import { redisPages } from './lists/pages.ts'
import { escapePattern, indexedFile, nameOf, ownerOf, parseName, refNamed } from './names.ts'
import { overdueIn } from './overdue.ts'
import { dataKey, runOf, setMarks } from './run.ts'
import * as scripts from './scripts.ts'
import { redisSearch, searchText } from './search/search.ts'
import { tidySearch } from './search/tidy.ts'
import { redisUses } from './uses.ts'

/**
 * The index in Redis, for any number of processes. The work of a dead process is overdue after its lease or deadline.
 * Instants are those of the callers' clocks, which must agree within a few seconds.
 *
 * Each original has a hash with its entry and those of its derivatives, so a delete needs no search. One sorted set has all
 * unsettled entries. Each client has its lists, folders, search, and derivatives by last use: see `step.ts`.
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
  const { prefix, unsettled, changes, totalsOf } = names
  const keys = epoch === undefined ? names.keys : names.fencedKeys(epoch)
  const complete = `${prefix}complete`
  const compared = `${prefix}compared`
  const isComplete = async () => (await redis.send((client) => client.exists(complete))) === 1

  return {
    ...redisChanges(redis, { set: changes, nameOf, refNamed }),
    ...redisUses(redis, { ...names, keys }),
    ...redisFolders(redis, names),
    ...redisPages(redis, names),
    ...redisSearch(redis, names),

    async find(ref, derivative) {
      const fields = derivative === undefined ? PIECES : [...PIECES, nameIn(ref.key, derivative)]
      const [file] = await readHashes(names, [ref], fieldsIn(redis, ...fields))
      const { values = [] } = file?.found ?? {}
      const [original, other] = [joined(values), values[PIECES.length]]
      return {
        ...(original ? { original: originalEntry(ref.key, original) } : {}),
        ...(other && derivative ? { derivative: derivativeEntry(ref.key, derivative, other) } : {}),
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
      const entries = records.map((record) => packedListed(storedAs(record, recordTags?.get(record.key))))
      const args = [...refs.map(nameOf), ...entries, ...records.map(searchText)]
      return (await scripts.finishUpload(redis, keys(first, ...others), args)) === 1
    },
    async adopt(clientId, record, trash, recordTag) {
      const ref = { clientId, key: record.key }
      const stored = storedAs(record, recordTag)
      const entry = packedListed(trash ? { ...stored, state: 'trashed', trash } : stored)
      const args = [nameOf(ref), entry, searchText(record)]
      return originalEntry(ref.key, (await scripts.adopt(redis, keys(ref), args)) as Buffer)
    },
    async enlist(clientId, record) {
      const ref = { clientId, key: record.key }
      await scripts.enlist(redis, keys(ref), [
        nameOf(ref),
        packedListed(storedAs(record)),
        searchText(record),
      ])
    },
    async amend(clientId, record, amended, recordTag) {
      const ref = { clientId, key: record.key }
      const texts = [bodyOf(record), packedListed(storedAs(amended, recordTag)), searchText(amended)]
      const keepsTag = recordTag === undefined && isSameInBucket(record, amended)
      return (await scripts.amend(redis, keys(ref), [nameOf(ref), ...texts, keepsTag ? 1 : 0])) === 1
    },
    async noteRecordTag(clientId, entry, recordTag) {
      if (!('record' in entry)) return false
      const ref = { clientId, key: entry.record.key }
      const args = [nameOf(ref), packedListed({ ...entry, recordTag })]
      return (await scripts.noteRecordTag(redis, keys(ref), args)) === 1
    },
    async trash(ref, { at, until }) {
      const taken = (await scripts.trash(redis, keys(ref), [nameOf(ref), until, at])) as string[] | null
      return keysOf(ref, taken)
    },
    async restore(ref, now) {
      return (await scripts.restore(redis, keys(ref), [nameOf(ref), now])) === 1
    },

    async beginDerivative(ref, derivative, deadline, options) {
      const { atMost = '', uncounted = [] } = options ?? {}
      const args = [nameOf(ref), nameIn(ref.key, derivative), deadline, atMost]
      for (const each of uncounted) args.push(nameIn(ref.key, each))
      return (await scripts.beginDerivative(redis, keys(ref), args)) as DerivativeStart
    },
    async finishDerivative(ref, record, use) {
      const args = [nameOf(ref), nameIn(ref.key, record.key), packedDerivative(ref.key, record, use)]
      return (await scripts.finishDerivative(redis, keys(ref), args)) === 1
    },
    async adoptDerivative(ref, record, states = ['stored']) {
      const args = [nameOf(ref), nameIn(ref.key, record.key), packedDerivative(ref.key, record), ...states]
      const entry = await scripts.adoptDerivative(redis, keys(ref), args)
      return entry === null ? undefined : derivativeEntry(ref.key, record.key, entry as Buffer)
    },
    async amendDerivative(ref, record, amended) {
      const args = [
        ...[nameOf(ref), nameIn(ref.key, record.key)],
        ...[derivativeBody(ref.key, record), derivativeBody(ref.key, amended)],
      ]
      return (await scripts.amendDerivative(redis, keys(ref), args)) === 1
    },
    async dropDerivative(ref, derivative, deadline) {
      await scripts.dropDerivative(redis, keys(ref), [nameOf(ref), nameIn(ref.key, derivative), deadline])
    },

    async beginRemoval(ref, { cause, leaseUntil, now }) {
      const args = [nameOf(ref), cause, leaseUntil, now]
      const taken = (await scripts.beginRemoval(redis, keys(ref), args)) as string[] | null
      return keysOf(ref, taken)
    },
    async finishRemoval(ref, now) {
      return (await scripts.finishRemoval(redis, keys(ref), [nameOf(ref), now])) === 1
    },

    async look(ref) {
      const [file] = await readHashes(names, [ref], entireHashes(redis))
      return file && indexedFile(ref, file.found.hash)
    },
    list(clientId) {
      const hashes = hashPrefix(keyPrefix)
      return listEntries(redis, {
        pattern: `${escapePattern(clientId === undefined ? hashes : hashes + ownerOf(clientId))}*`,
        parse: (name) => parseName(name.slice(hashes.length)),
      })
    },

    async totals(clientId) {
      const counts = await redis.send((client) => client.hgetall(totalsOf(clientId)))
      const totalOf = (state: keyof Totals) => ({
        files: Number(counts[`${state} files`] ?? 0),
        bytes: Number(counts[`${state} bytes`] ?? 0),
      })
      return { stored: totalOf('stored'), trashed: totalOf('trashed') }
    },
    // The lists, the counters and the search of this layout are complete at the same time.
    isComplete,
    isCounted: isComplete,
    canSearch: isComplete,
    isWhole: isComplete,
    async markComplete(name) {
      const { id, data } = await runOf(redis, names)
      if (name === undefined || name === id || name === data)
        await setMarks(redis, [dataKey(prefix), complete], [data])
    },
    async run() {
      const [run, noted] = await Promise.all([
        runOf(redis, names),
        redis.send((client) => client.get(compared)),
      ])
      return { ...run, isCompared: run.id !== undefined && run.id === noted }
    },
    async noteCompared(run) {
      await redis.send((client) => client.set(compared, run))
    },

    overdue: (now) => overdueIn(redis, unsettled, now),
    removeFormer: (signal) => removeFormer([{ redis, keyPrefix }], { signal, nodeOf: async () => '' }),
    tidy: (options) => tidySearch(redis, names, options),
    async ping() {
      // A write, since a full Redis and a replica also answer PING.
      await redis.send((client) => client.set(`${prefix}ping`, '', 'PX', 1000))
    },
    async close() {},
  }
}

function storedAs(record: OriginalRecord, recordTag?: string) {
  return { state: 'stored', record, ...(recordTag === undefined ? {} : { recordTag }) } as const
}

function keysOf(ref: FileRef, names: readonly string[] | null): ObjectKey[] | undefined {
  return names?.map((name) => derivativeNamed(ref.key, name))
}
