import type { CpuPayer } from '../../core/budgets/cpu-time.ts'
import { bytesOfDerivatives, type DerivativeLimits } from '../../core/budgets/storage.ts'
import { type Asset, withLastModified } from '../../core/bytes/asset.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import { isCopyVariant, isReservedVariant } from '../../core/files/variant.ts'
import { tooManyVariants } from '../../core/limit-problems.ts'
import type { Log } from '../../core/log.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { DerivativeIndex, OriginalIndex } from '../../core/ports/file-index.ts'
import type { RecordChanges } from '../../core/ports/index/record-changes.ts'
import { fileNotFound, Problem, unavailable, unlessStatus } from '../../core/problem.ts'
import { runsAsJob } from '../../pipeline/plan/runs-as-job.ts'
import type { WorkRunner } from '../../pipeline/run/run.ts'
import type { Assets } from '../delivery/referenced-files.ts'
import { deleteParts } from '../originals/delete-objects.ts'
import type { Originals } from '../originals/originals.ts'
import { cachedProbe } from '../originals/probe-cache.ts'
import type { Proxies } from '../proxies/proxies.ts'
import { createLeftovers } from './cleanup.ts'
import type { DeriveRequest, MadeAsset } from './derivations.ts'
import type { Evict } from './evict.ts'
import { bytesToTransform } from './original-bytes.ts'
import type { PendingStores } from './pending-stores.ts'
import { sourceFacts } from './source-facts.ts'
import { type Claim, createDerivativeSpace } from './space.ts'
import { createStoring } from './store.ts'

// An aborted put may still complete, so a delete waits this long after the deadline.
const GRACE_MS = 15_000

type Unrendered = Omit<DeriveRequest, 'caller' | 'signal' | 'progress'>

/** Renders and stores derivatives. It has no single flight: two calls for one derivative render it twice. */
export interface Maker {
  /**
   * `pending` → render, parts → response → put → `stored`; nothing remains if the original is deleted in the meantime. Calls
   * `respond` once, unless it fails before.
   */
  make(
    request: DeriveRequest,
    how: { key: ObjectKey; signal: AbortSignal; respond: (asset: MadeAsset) => void },
  ): Promise<void>
  /** → `pending`. @returns its deadline, in milliseconds since 1970 @throws Problem 404, 429 */
  reserve(request: Unrendered, key: ObjectKey): Promise<number>
  /** How long waiting for a turn, rendering and storing may take together, in milliseconds. */
  limitMsOf(request: Pick<DeriveRequest, 'timeoutMs'>): number
}

/** Dependencies of rendering. */
export interface MakerOptions {
  index: OriginalIndex & DerivativeIndex & Pick<RecordChanges, 'beginChange'>
  buckets: Buckets
  assets: Assets
  originals: Pick<Originals, 'resolve'>
  events: EventBus
  run: WorkRunner
  limits: TransformLimits
  derivativeLimits: DerivativeLimits
  evict: Evict
  pendingStores: PendingStores
  /** The proxies of the original of a derivative. Without it, every derivative is rendered from its original. */
  proxiesOf?: Proxies['of'] | undefined
  log: Log
  /** The current time, in milliseconds since 1970. */
  now: () => number
}

export function createMaker(options: MakerOptions): Maker {
  const { index, buckets, assets, originals, events, run, limits, derivativeLimits, evict, log, now } =
    options
  const proxiesOf = options.proxiesOf ?? (() => undefined)
  const space = createDerivativeSpace({ index, evict, limits: derivativeLimits, log })
  // Waiting for a turn, rendering, and storing: each may take as long as a render.
  const limitMsOf: Maker['limitMsOf'] = ({ timeoutMs = limits.timeoutMs }) => 3 * timeoutMs

  const claimOf = ({ client, record, isHeld = false }: Unrendered, key: ObjectKey): Claim => ({
    client,
    original: record,
    key,
    isHeld,
  })

  /** → `pending`. @returns its deadline, or undefined when there is no room to store it @throws Problem 404 */
  async function note(request: Unrendered, key: ObjectKey): Promise<number | undefined> {
    const deadline = now() + limitMsOf(request) + GRACE_MS
    // There are few derivatives of reserved variants, so they do not count against the limit.
    const limited = !isReservedVariant(request.plan.variant)
    const begin = () => unlessStatus(404, space.begin(claimOf(request, key), { deadline, limited }))
    let isStorable = await begin()
    // The index was emptied after the original was found, for example by a restart of Redis. The bucket still has the original.
    if (isStorable === undefined && (await originals.resolve(request.client, { full: request.name })))
      isStorable = await begin()
    if (isStorable === undefined) throw fileNotFound()
    return isStorable ? deadline : undefined
  }

  async function reserve(request: Unrendered, key: ObjectKey): Promise<number> {
    const deadline = await note(request, key)
    if (deadline === undefined) throw tooManyVariants(space.atMost(request.client))
    return deadline
  }

  /** A derivative as the index has it now: stored, or begun by an attempt that has not ended. */
  async function present({ client, name }: DeriveRequest, key: ObjectKey) {
    const known = (await index.find({ clientId: client.id, key: name.key }, key)).derivative
    const entry = known?.state === 'stored' ? known.record : undefined
    const stored = entry && (await buckets.of(client).find(key, entry))
    return { stored: stored?.size === entry?.size ? stored : undefined, isBegun: known?.state === 'pending' }
  }

  /** @throws Problem 404, 503 for a source that has been evicted */
  async function sourceOf(request: DeriveRequest): Promise<Asset> {
    const { client, record, from } = request
    if (request.source) return request.source
    if (from !== undefined) {
      const { stored } = await present(request, from)
      if (!stored) throw unavailable('The PDF of this document is being replaced. Retry in a few seconds.')
      return stored
    }
    const source = await bytesToTransform(buckets.of(client), record)
    if (!source) throw fileNotFound()
    const probe = cachedProbe(record, { clientId: client.id, index, log })
    return { ...source, ...sourceFacts(record), probe }
  }

  function tellFailed({ client, name, plan }: DeriveRequest, key: ObjectKey, error: unknown): void {
    if (isCopyVariant(plan.variant)) return
    const { code, message: detail } =
      error instanceof Problem ? error : { code: 'internal', message: 'the transformation failed' }
    events.emit('derivative.failed', { clientId: client.id, key, original: name.key, code, detail })
  }

  async function make(...[request, { key, signal, respond }]: Parameters<Maker['make']>): Promise<void> {
    const { client, record, plan, timeoutMs = limits.timeoutMs, progress } = request
    const bucket = buckets.of(client)
    // Another process may have stored it since the caller has read the index.
    const { stored, isBegun } = await present(request, key)
    if (stored) return respond(withLastModified(stored, record.storedAt))
    const asset = await assets.of(client, plan)
    // The callers of a job request the stored derivative later.
    const deadline = await (runsAsJob(plan) ? reserve : note)(request, key)
    const mostOfAll = bytesOfDerivatives(record.size, derivativeLimits.derivativesMaxTimes)
    const outputMaxBytes = Math.min(limits.outputMaxBytes, mostOfAll)
    const leftovers = createLeftovers(log, { key })
    const proxies = proxiesOf(request)
    const storing = createStoring(
      { ...options, bucket, space },
      { request, key, claim: claimOf(request, key), deadline, isBegun, maxBytes: outputMaxBytes, signal },
    )
    try {
      const source = await sourceOf(request)
      // Parts that a killed process has left.
      await deleteParts(bucket, key)
      const rendered = await run(plan, source, {
        ...payerOf(request),
        asset,
        signal,
        log,
        storePart: storing.storePart,
        limits: { ...limits, timeoutMs, outputMaxBytes },
        ...(progress ? { progress } : {}),
        ...(proxies ? { proxies } : {}),
        afterwards: leftovers.add,
      })
      await storing.finish(rendered, respond)
    } catch (error) {
      await storing
        .takeBack()
        .catch((err) =>
          log.warn({ err, key }, 'a failed derivative could not be cleaned up; the next sweep does it'),
        )
      if (!signal.aborted && !request.isTriedAgain?.(error)) tellFailed(request, key, error)
      throw error
    } finally {
      storing.end()
      await leftovers.remove()
    }
  }

  return { make, reserve, limitMsOf }
}

/** The account that is charged for the CPU time of a derivative. */
export function payerOf({ client, caller }: Pick<DeriveRequest, 'client' | 'caller'>): CpuPayer {
  return { clientId: client.id, caller, rates: client.rules?.rates }
}
