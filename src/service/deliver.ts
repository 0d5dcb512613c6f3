import { type Asset, withLastModified } from '../core/asset.ts'
import type { Client } from '../core/client.ts'
import type { MediaGroup } from '../core/media.ts'
import { derivativeKey, type ObjectKey, parsePath } from '../core/object-key.ts'
import type { Buckets } from '../core/ports/bucket.ts'
import { fileNotFound, Problem } from '../core/problem.ts'
import type { Planner } from '../pipeline/plan.ts'
import type { Derivations } from './derive.ts'
import type { FoundOriginal, Originals } from './originals.ts'

export interface DeliveryRequest {
  client: Client
  /** As in the URL: the file's own, or there is no such file. */
  group: MediaGroup
  /** Decoded once, not checked yet. */
  path: string
  /** What is to be done with it; none: as it is. */
  query: ReadonlyArray<readonly [name: string, value: string]>
  /** The `Accept` header; empty when there is none. */
  accept: string
  signal: AbortSignal
}

/** A file to send. */
export interface Delivery {
  key: ObjectKey
  asset: Asset
  /** The original's, for those who save it. */
  originalName: string
  /** Whether caches must keep it apart by `Accept`. */
  variesByAccept: boolean
}

/** The files that URLs name: originals, and what is made of them. */
export interface Deliveries {
  /** @throws Problem 400, 404, 422, 503 */
  deliver(request: DeliveryRequest): Promise<Delivery>
  /** The raw object of a full key, an original's or a stored derivative's. @throws Problem 400, 404 */
  object(request: Pick<DeliveryRequest, 'client' | 'path'>): Promise<Delivery>
}

export function createDeliveries({
  originals,
  derivations,
  buckets,
  plan,
}: {
  originals: Originals
  derivations: Derivations
  buckets: Buckets
  plan: Planner
}): Deliveries {
  async function original(
    client: Client,
    { name, record }: FoundOriginal,
  ): Promise<Omit<Delivery, 'variesByAccept'>> {
    const asset = await buckets.of(client).find(name.key, record)
    if (!asset) throw fileNotFound()
    return {
      key: name.key,
      asset: withLastModified(asset, record.storedAt),
      originalName: record.originalName,
    }
  }

  /** A derivative that is stored, or undefined when it has to be made. */
  async function stored(client: Client, { name, record }: FoundOriginal, key: ObjectKey) {
    const asset = await originals.derivativeToRead(client, name.key, key)
    return (
      asset && { key, asset: withLastModified(asset, record.storedAt), originalName: record.originalName }
    )
  }

  return {
    async deliver({ client, group, path, query, accept, signal }) {
      const found = await originals.resolveToRead(client, parsePath(path, { group }))
      if (!found || found.name.format.group !== group) throw fileNotFound()
      const planned = plan({ query, format: found.name.format, accept })
      const { steps, variant, variesByAccept } = planned
      if (found.variant !== undefined) {
        if (steps.length > 0) throw transformOfDerivative()
        const derivative = await stored(client, found, derivativeKey(found.name.key, found.variant))
        if (!derivative) throw fileNotFound()
        return { ...derivative, variesByAccept: false }
      }
      if (steps.length === 0) return { ...(await original(client, found)), variesByAccept }
      const key = derivativeKey(found.name.key, variant)
      const derivative = await stored(client, found, key)
      if (derivative) return { ...derivative, variesByAccept }
      const asset = await derivations.derive({
        ...found,
        client,
        plan: planned,
        signal,
      })
      return { key, asset, originalName: found.record.originalName, variesByAccept }
    },

    async object({ client, path }) {
      const { full } = parsePath(path)
      const found = full && (await originals.resolveToRead(client, { full }))
      if (!found) throw fileNotFound()
      if (found.variant === undefined) return { ...(await original(client, found)), variesByAccept: false }
      const derivative = await stored(client, found, derivativeKey(found.name.key, found.variant))
      if (!derivative) throw fileNotFound()
      return { ...derivative, variesByAccept: false }
    },
  }
}

function transformOfDerivative(): Problem {
  return new Problem({
    status: 400,
    code: 'transform_of_derivative',
    detail: 'expected no parameters for a derivative: transform its original',
  })
}
