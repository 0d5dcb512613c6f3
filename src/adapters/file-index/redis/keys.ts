import type { FileRef } from '../../../core/files/file-ref.ts'
import type { PageRequest } from '../../../core/ports/index/page-request.ts'
import { type FencedKeys, fenceOf } from '../fence.ts'
import { LISTED_STATES, ORDERS } from '../positions.ts'
import { folderKeys } from './folders.ts'
import { nameOf, ownerOf } from './names.ts'
import { searchKey } from './search/search.ts'

/** The names of the keys of an index, as `step.ts` describes them. */
export function keyNames(keyPrefix: string) {
  const unsettled = `${keyPrefix}unsettled`
  const untidy = `${keyPrefix}untidy`
  const hashOf = (ref: FileRef) => `${keyPrefix}file:${nameOf(ref)}`
  const totalsOf = (clientId: string) => `${keyPrefix}totals:${ownerOf(clientId)}`
  const listOf = (clientId: string, { state, by }: Pick<PageRequest, 'state' | 'by'>) =>
    `${keyPrefix}list:${ownerOf(clientId)}${state}:${by}`
  const usesOf = (clientId: string) => `${keyPrefix}uses:${ownerOf(clientId)}`
  const sumsOf = (clientId: string) => `${keyPrefix}derived:${ownerOf(clientId)}`
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
  /** The same with a fence. */
  const fencedKeys =
    (epoch: number) =>
    (first: FileRef, ...others: FileRef[]): FencedKeys => ({
      keys: keys(first, ...others),
      fence: fenceOf(keyPrefix, first.clientId),
      epoch,
    })
  const changes = `${keyPrefix}changes`
  return {
    keyPrefix,
    nameOf,
    unsettled,
    untidy,
    changes,
    hashOf,
    totalsOf,
    listOf,
    usesOf,
    sumsOf,
    clientKeys,
    keys,
    fencedKeys,
  }
}
