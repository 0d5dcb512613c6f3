import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import { foreignKey, type IsForeign } from '../../core/foreign/foreign-path.ts'
import type { Buckets } from '../../core/ports/bucket.ts'

/** A foreign object in a list. */
export interface ListedObject {
  key: ObjectKey
  /** Bytes. */
  size: number
  changedAt: Date
}

/** A part of the list of foreign objects, sorted by path. `next`: the path after which the next part begins. */
export type ListForeign = (request: {
  client: Client
  /** Only paths that begin with it. Empty: all prefixes. */
  prefix: string
  /** Only paths within this folder; empty: no restriction. */
  folder: string
  after?: string | undefined
  /** At least 1. */
  limit: number
  signal: AbortSignal
}) => Promise<{ objects: ListedObject[]; next: string | undefined }>

/** Reads the names of all objects with the prefix for each part, since a disk has no sorted lists. */
export function createListForeign({
  buckets,
  isForeign,
  prefixes,
}: {
  buckets: Buckets
  isForeign: IsForeign
  /** The prefixes of FOREIGN_PREFIXES. */
  prefixes: readonly string[]
}): ListForeign {
  return async ({ client, prefix, folder, after = '', limit, signal }) => {
    if (prefix !== '') foreignKey(prefix.replace(/\/$/, ''))
    const bucket = buckets.of(client)
    let first: ObjectKey[] = []
    const starts = prefix === '' ? prefixes : [prefix]
    for (const start of new Set(starts))
      for await (const key of bucket.list(start)) {
        signal.throwIfAborted()
        if (key <= after || !isForeign(key) || (folder !== '' && !key.startsWith(`${folder}/`))) continue
        first.push(key)
        // Only the first ones stay in memory.
        if (first.length >= 4 * limit + 1000) first = firstOf(first, limit + 1)
      }
    first = firstOf(first, limit + 1)
    const objects: ListedObject[] = []
    for (const key of first.slice(0, limit)) {
      const found = await bucket.find(key, { mediaType: 'application/octet-stream' })
      // It may have been deleted since it was listed.
      if (found) objects.push({ key, size: found.size, changedAt: found.lastModified })
    }
    return { objects, next: first.length > limit ? first[limit - 1] : undefined }
  }
}

function firstOf(keys: readonly ObjectKey[], count: number): ObjectKey[] {
  return [...new Set(keys)].sort(byText).slice(0, count)
}

function byText(one: string, other: string): number {
  return one < other ? -1 : 1
}
