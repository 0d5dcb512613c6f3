import type { FileRef } from '../../../core/files/file-ref.ts'
import { storedKey } from '../../../core/files/object-key.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { FolderCount } from '../../../core/ports/index/folder-counts.ts'
import type { PageRequest } from '../../../core/ports/index/page-request.ts'
import { isSameInBucket } from '../../../core/ports/index/same-record.ts'
import type { DerivativeStart } from '../../../core/ports/index/steps.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { LISTED_STATES, ORDERS } from '../positions.ts'
import { redisChanges } from './changes.ts'
import {
  derivativeEntry,
  derivativeJson,
  listedText,
  originalEntry,
  originalJson,
  tagText,
} from './entries.ts'
import { folderKeys, redisFolders } from './folders.ts'
import { redisLayout } from './layout.ts'
import { listEntries } from './list.ts'
import { redisPages } from './lists/pages.ts'
import { listUpgrade } from './lists/upgrade.ts'
import { escapePattern, indexedFile, nameOf, ownerOf, refNamed } from './names.ts'
import { overdueIn } from './overdue.ts'
import { runOf } from './run.ts'
import * as scripts from './scripts.ts'
import { searchMarks } from './search/former.ts'
import { redisSearch, searchKey, searchText } from './search/search.ts'
import { tidySearch } from './search/tidy.ts'
import { upgradeLease } from './upgrade-lease.ts'
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
 */
export function redisIndex(redis: RedisConnection, { keyPrefix }: { keyPrefix: string }): FileIndex {
  const unsettled = `${keyPrefix}unsettled`
  const untidy = `${keyPrefix}untidy`
  const hashOf = (ref: FileRef) => `${keyPrefix}file:${nameOf(ref)}`
  const totalsOf = (clientId: string) => `${keyPrefix}totals:${ownerOf(clientId)}`
  const listOf = (clientId: string, { state, by }: Pick<PageRequest, 'state' | 'by'>) =>
    `${keyPrefix}list:${ownerOf(clientId)}${state}:${by}`
  const usesOf = (clientId: string) => `${keyPrefix}uses:${ownerOf(clientId)}`
  const sumsOf = (clientId: string) => `${keyPrefix}derived:${ownerOf(clientId)}`
  const layout = redisLayout(redis, { keyPrefix })
  const compared = `${keyPrefix}compared`
  /** The keys of a client that every step names. */
  const clientKeys = (clientId: string) => [
    unsettled,
    totalsOf(clientId),
    ...LISTED_STATES.flatMap((state) => ORDERS.map((by) => listOf(clientId, { state, by }))),
    usesOf(clientId),
    sumsOf(clientId),
    ...folderKeys(keyPrefix, clientId),
    searchKey(keyPrefix, clientId),
    untidy,
  ]
  /** The keys of a step. All originals must belong to one client, except in a step that changes no lists. */
  const keys = (first: FileRef, ...others: FileRef[]) => [
    ...clientKeys(first.clientId),
    ...[first, ...others].map(hashOf),
  ]
  const names = { keyPrefix, untidy, keys, nameOf, hashOf }
  const lease = upgradeLease(redis, { keyPrefix })
  const marks = searchMarks(redis, names, lease)
  const folders = redisFolders(redis, { keyPrefix, clientKeys })
  const { reviewing } = layout
  const lists = listUpgrade(redis, {
    ...names,
    ...lease,
    reviewing,
    clientKeys,
    listOf,
    recount: folders.recount,
  })

  return {
    ...redisChanges(redis, { set: `${keyPrefix}changes`, nameOf, refNamed }),
    ...redisUses(redis, { keys, nameOf, hashOf, usesOf, sumsOf }),
    ...folders,
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

    ...redisPages(redis, { listOf, hashOf }),
    async totals(clientId) {
      const [stored, trashed] = await Promise.all(
        LISTED_STATES.map((state) => folders.folderCount(clientId, state, '')),
      )
      const totalOf = ({ files, bytes }: FolderCount) => ({ files, bytes })
      return { stored: totalOf(stored as FolderCount), trashed: totalOf(trashed as FolderCount) }
    },
    isComplete: () => layout.isComplete(),
    isCounted: () => layout.isCounted(),
    isWhole: async () => (await layout.isComplete()) && (await layout.isCounted()) && marks.canSearch(),
    async markComplete(name) {
      const { id, data } = await runOf(redis, { keyPrefix })
      if (name === undefined || name === id || name === data)
        await layout.markComplete({ search: marks.mark, data })
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
    claimLayout: layout.claim,
    async upgrade(signal, clientIds) {
      await layout.claim()
      await marks.upgrade(signal, clientIds)
      await lists(signal, clientIds)
    },
    tidy: (options) => tidySearch(redis, names, options),
    async ping() {
      // A write, since a full Redis and a replica also answer PING.
      await redis.send((client) => client.set(`${keyPrefix}ping`, '', 'PX', 1000))
    },
    async close() {},
  }
}
