import type { FileRef } from '../../../core/files/file-ref.ts'
import type { PageRequest } from '../../../core/ports/index/page-request.ts'
import { INDEX_LAYOUT } from '../../../core/storage/index-layout.ts'
import { type FencedKeys, fenceOf } from '../fence.ts'
import { LISTED_STATES, ORDERS } from '../positions.ts'
import { idIn, type Place } from './lists/places.ts'
import { nameOf, ownerOf } from './names.ts'

/** The number of the layout that this version reads and writes. Version 1.0 has no number. */
export const LAYOUT = INDEX_LAYOUT

/** The beginning of the names of all keys of the index, apart from those that all layouts have in common. */
export function prefixOf(keyPrefix: string): string {
  return `${keyPrefix}${LAYOUT}:`
}

/** The beginning of the names of the hashes of originals. The rest is the client and the id or the key. */
export function hashPrefix(keyPrefix: string): string {
  return `${prefixOf(keyPrefix)}f:`
}

/** The names of the keys of an index, as `step.ts` describes them. */
export function keyNames(keyPrefix: string) {
  const prefix = prefixOf(keyPrefix)
  const unsettled = `${prefix}unsettled`
  const untidy = `${prefix}untidy`
  const hashes = hashPrefix(keyPrefix)
  /** The hash of an original by its place. */
  const hashAt = (clientId: string, place: Place) =>
    `${hashes}${ownerOf(clientId)}${'id' in place ? place.id : place.key}`
  /** The short and the long name of the hash of an original. They are the same for a key without an id. */
  const hashesOf = ({ clientId, key }: FileRef): [short: string, long: string] => {
    const start = hashes + ownerOf(clientId)
    return [start + (idIn(key) ?? key), start + key]
  }
  const totalsOf = (clientId: string) => `${prefix}totals:${ownerOf(clientId)}`
  const listOf = (clientId: string, { state, by }: Pick<PageRequest, 'state' | 'by'>) =>
    `${prefix}list:${ownerOf(clientId)}${state}:${by}`
  const usesOf = (clientId: string) => `${prefix}uses:${ownerOf(clientId)}`
  const sumOf = (clientId: string) => `${prefix}derived:${ownerOf(clientId)}`
  /** The keys of a client that every step names. */
  const clientKeys = (clientId: string) => [
    unsettled,
    totalsOf(clientId),
    ...LISTED_STATES.flatMap((state) => ORDERS.map((by) => listOf(clientId, { state, by }))),
    usesOf(clientId),
    sumOf(clientId),
    ...folderKeys(prefix, clientId),
    searchKey(prefix, clientId),
    untidy,
  ]
  /** The keys of a step. All originals must belong to one client, except in a step that changes no lists. */
  const keys = (first: FileRef, ...others: FileRef[]) => [
    ...clientKeys(first.clientId),
    ...[first, ...others].flatMap(hashesOf),
  ]
  /** The same with a fence. */
  const fencedKeys =
    (epoch: number) =>
    (first: FileRef, ...others: FileRef[]): FencedKeys => ({
      keys: keys(first, ...others),
      fence: fenceOf(keyPrefix, first.clientId),
      epoch,
    })
  return {
    prefix,
    nameOf,
    unsettled,
    untidy,
    changes: `${prefix}changes`,
    hashAt,
    hashesOf,
    totalsOf,
    listOf,
    usesOf,
    sumOf,
    clientKeys,
    keys,
    fencedKeys,
  }
}

/** The names of the keys of an index. */
export type KeyNames = ReturnType<typeof keyNames>

/** The keys of a client's counters, as `folder-lua.ts` describes them. */
export function folderKeys(prefix: string, clientId: string): string[] {
  const owner = ownerOf(clientId)
  return [
    `${prefix}folders:${owner}`,
    ...LISTED_STATES.map((state) => `${prefix}subfolders:${owner}${state}`),
    `${prefix}recount:${owner}`,
  ]
}

/** The key of a client's search, as `search/lua.ts` describes it. */
export function searchKey(prefix: string, clientId: string): string {
  return `${prefix}search:${ownerOf(clientId)}`
}
