import type { Client } from '../../core/clients/client.ts'
import { classifyKey, derivativePrefix, type ObjectKey } from '../../core/files/object-key.ts'
import type { PathCandidates } from '../../core/files/request-path.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { DerivativeIndex } from '../../core/ports/file-index.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { Originals } from '../originals/originals.ts'
import type { Evict } from './evict.ts'
import { recordOfDerivative } from './parts.ts'

/** The deleted derivatives of an original. */
export interface RemovedDerivatives {
  /** The key of the original. */
  key: ObjectKey
  derivatives: number
  /** Includes the bytes of parts. */
  bytes: number
}

/**
 * Deletes the stored derivatives of an original, including held ones. One that is in progress is stored afterwards.
 * @param options.before only those that were stored before this time, in milliseconds since 1970
 * @throws Problem 404 when the original does not exist, 503 when some derivatives may remain: the sweep continues
 */
export type RemoveDerivatives = (
  client: Client,
  path: PathCandidates,
  options?: { before?: number | undefined },
) => Promise<RemovedDerivatives>

export function createRemoveDerivatives({
  index,
  buckets,
  originals,
  evict,
}: {
  index: DerivativeIndex
  buckets: Buckets
  originals: Originals
  evict: Evict
}): RemoveDerivatives {
  /** An outdated index does not have all of them. */
  async function adoptUnknown(client: Client, key: ObjectKey): Promise<void> {
    const ref = { clientId: client.id, key }
    const bucket = buckets.of(client)
    for await (const found of bucket.list(derivativePrefix(key))) {
      if (classifyKey(found)?.kind !== 'derivative' || (await index.find(ref, found)).derivative) continue
      const asset = await bucket.find(found)
      if (asset) await index.adoptDerivative(ref, await recordOfDerivative(bucket, found, asset))
    }
  }

  async function isOlder(client: Client, derivative: ObjectKey, before: number): Promise<boolean> {
    const asset = await buckets.of(client).find(derivative)
    return asset === undefined || asset.lastModified.getTime() < before
  }

  return async (client, path, { before } = {}) => {
    const found = await originals.resolve(client, path)
    if (!found || found.variant !== undefined) throw fileNotFound()
    const { key } = found.name
    await adoptUnknown(client, key)
    const removed = { key, derivatives: 0, bytes: 0 }
    const file = await index.look({ clientId: client.id, key })
    for (const { key: derivative, entry } of file?.derivatives ?? []) {
      if (entry.state !== 'stored') continue
      if (before !== undefined && !(await isOlder(client, derivative, before))) continue
      if (!(await evict(client, key, derivative))) continue
      removed.derivatives += 1
      removed.bytes += entry.record.size + (entry.record.partsBytes ?? 0)
    }
    return removed
  }
}
