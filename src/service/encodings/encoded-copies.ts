import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import { type Asset, assetFromBytes, readAll, withLastModified } from '../../core/bytes/asset.ts'
import { derivativeKey, type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import { type Encoding, isCompressible } from '../../core/media/encodings.ts'
import { Problem } from '../../core/problem.ts'
import { encodingPlan } from '../../pipeline/run/encoding-plan.ts'
import type { Deliveries, Delivery, DeliveryRequest } from '../delivery/deliveries.ts'
import type { Derivations } from '../derivatives/derivations.ts'
import type { NotedUses } from '../derivatives/noted-uses.ts'
import type { Originals } from '../originals/originals.ts'

// Smaller files fit into one packet or two. Larger ones would take a core for seconds, and are seldom read in a browser.
const MIN_BYTES = 1024
const MAX_BYTES = 10 * 1024 * 1024

type EncodedRequest = Pick<DeliveryRequest, 'client' | 'caller' | 'preferences' | 'signal'>

/**
 * The same deliveries, with compressed copies of texts for clients that accept them. Each copy is created once, stored next to its
 * original, and deleted with it. Compression never refuses a delivery: without a copy, the file is delivered as it is.
 */
export function withEncodedCopies(
  deliveries: Deliveries,
  {
    originals,
    derivations,
    uses,
    log,
  }: {
    originals: Pick<Originals, 'resolve' | 'derivativeToRead'>
    derivations: Pick<Derivations, 'derive'>
    uses: NotedUses
    log: Log
  },
): Deliveries {
  // Copies that would not be smaller than their source.
  const useless = boundedCache<true>({ maxBytes: 2_000_000 })

  async function loadOrCreate(delivery: Delivery, request: EncodedRequest, encoding: Encoding) {
    const { stored, asset } = delivery
    const { client, caller, signal } = request
    const name = stored && parseKey(stored.original)
    if (!stored || !name) return undefined
    const isOriginal = delivery.key === stored.original
    // The same key may have other bytes later: a derivative that was evicted and is rendered again.
    const bytes = isOriginal ? undefined : await readAll(asset, signal)
    const plan = encodingPlan(encoding, bytes)
    const key = derivativeKey(name.key, plan.variant)
    const id = `${client.id} ${key}`
    if (useless.has(id)) return undefined
    const known = await originals.derivativeToRead(client, name.key, key)
    if (known) {
      uses.note({ clientId: client.id, key: name.key }, key, { isHeld: false })
      return { key, asset: known }
    }
    const found = await originals.resolve(client, { full: name })
    if (!found) return undefined
    const source = bytes ? assetFromBytes(bytes, asset) : asset
    const made = await derivations.derive({ ...found, client, caller, plan, source, signal })
    if (made.size < asset.size) return { key, asset: made as Asset }
    useless.set(id, true)
    return undefined
  }

  /** Never throws, except `signal.reason`. */
  async function select(delivery: Delivery, request: EncodedRequest): Promise<Delivery> {
    const { asset, isPartial, mustRedirect } = delivery
    if (isPartial || mustRedirect || !isCompressible(asset.mediaType)) return delivery
    if (asset.size < MIN_BYTES || asset.size > MAX_BYTES) return delivery
    const either: Delivery = { ...delivery, variesBy: [...delivery.variesBy, 'encoding'] }
    const { client, preferences, signal } = request
    const { encoding } = preferences
    if (encoding === undefined || !delivery.stored) return either
    try {
      const copy = await loadOrCreate(delivery, request, encoding)
      return copy ? encoded(either, copy, encoding) : either
    } catch (err) {
      signal.throwIfAborted()
      // Overload and outages are not about the file.
      if (!(err instanceof Problem))
        log.warn({ err, client: client.id, key: delivery.key }, 'a file could not be compressed')
      return either
    }
  }

  return {
    ...deliveries,
    deliver: async (request) => select(await deliveries.deliver(request), request),
    object: async (request) => select(await deliveries.object(request), request),
  }
}

function encoded(delivery: Delivery, copy: { key: ObjectKey; asset: Asset }, encoding: Encoding): Delivery {
  const { mediaType, lastModified } = delivery.asset
  const asset = withLastModified({ ...copy.asset, mediaType }, lastModified.getTime())
  const { clientId = '', original = delivery.key } = delivery.stored ?? {}
  const stored = { clientId, original, derivative: copy.key, isHeld: false, isNamed: true, asset } as const
  return { ...delivery, asset, encoding, stored }
}
