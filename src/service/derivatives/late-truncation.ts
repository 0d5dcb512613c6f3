import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import { openWhole } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import type { Log } from '../../core/log.ts'
import { watchEnd } from '../../core/media/image-end/image-end.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import { fileNotFound, Problem } from '../../core/problem.ts'
import { BROKEN } from '../../core/transform-problems.ts'
import type { Annotate } from '../files/annotate.ts'
import type { FoundOriginal } from '../originals/originals.ts'

/**
 * Checks whether an original that could not be decoded is truncated. Originals that were uploaded to a version without that check
 * have no mark in their record. A truncated one is marked now, in the bucket and the index.
 *
 * @param error of the transformation
 * @returns the marked original, to be transformed again; undefined when it is not truncated, was marked before, or cannot be read
 *   or marked now
 */
export type FindLateTruncation = (
  client: Client,
  found: FoundOriginal,
  error: unknown,
) => Promise<FoundOriginal | undefined>

// A file that is complete is read once, however many requests fail.
const REMEMBERED_BYTES = 2_000_000
// During an outage of the bucket, each attempt to mark a file would fail.
const DEFERRED_FOR_MS = 60_000

export function createFindLateTruncation({
  buckets,
  annotate,
  log,
}: {
  buckets: Buckets
  annotate: Annotate
  log: Log
}): FindLateTruncation {
  const underWay = new Map<string, Promise<FoundOriginal | undefined>>()
  const complete = boundedCache<true>({ maxBytes: REMEMBERED_BYTES })
  const deferred = boundedCache<true>({ maxBytes: REMEMBERED_BYTES, ttlMs: DEFERRED_FOR_MS })

  async function isTruncated(client: Client, { name, record }: FoundOriginal): Promise<boolean> {
    const watch = watchEnd(name.format)
    if (!watch) return false
    const asset = await buckets.of(client).find(name.key, record)
    if (!asset) throw fileNotFound()
    for await (const piece of await openWhole(asset)) watch.add(piece)
    return watch.isTruncated()
  }

  async function look(client: Client, found: FoundOriginal): Promise<FoundOriginal | undefined> {
    if (!(await isTruncated(client, found))) return undefined
    return annotate({
      client,
      path: { full: found.name },
      change: (record) => ({ ...record, truncated: true }),
      signal: new AbortController().signal,
    })
  }

  return async (client, found, error) => {
    if (!(error instanceof Problem) || error.members.reason !== BROKEN) return undefined
    if (error.members.param !== undefined || found.record.truncated) return undefined
    const name = `${client.id} ${found.record.sha256} ${found.name.key}`
    if (complete.has(name) || deferred.has(name)) return undefined
    const known = underWay.get(name)
    if (known !== undefined) return known
    const looked = look(client, found)
      .then((marked) => {
        if (!marked) complete.set(name, true)
        return marked
      })
      .catch((err) => {
        deferred.set(name, true)
        log.warn({ err, client: client.id, key: found.name.key }, 'the end of an image could not be checked')
        return undefined
      })
      .finally(() => underWay.delete(name))
    underWay.set(name, looked)
    return looked
  }
}
