import { type Asset, withLastModified } from '../core/asset.ts'
import { createFailures } from '../core/budgets/failures.ts'
import type { Caller } from '../core/caller.ts'
import type { Client } from '../core/client.ts'
import type { Log } from '../core/log.ts'
import { derivativeKey, type ObjectKey, partKey } from '../core/object-key.ts'
import type { EngineContext, TransformLimits } from '../core/plugin.ts'
import type { Buckets } from '../core/ports/bucket.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import type { FileIndex } from '../core/ports/file-index.ts'
import type { Locks } from '../core/ports/locks.ts'
import { fileNotFound, Problem, tooManyVariants, unlessStatus } from '../core/problem.ts'
import { createSharedWorks, type SharedWork, shareWork } from '../core/shared-work.ts'
import { INFORMATION_VARIANT } from '../core/variant.ts'
import type { Plan } from '../pipeline/plan.ts'
import type { WorkRunner } from '../pipeline/run.ts'
import type { Assets } from './assets.ts'
import { deleteDerivative, deleteParts } from './delete-all.ts'
import { keptProbe } from './kept-probe.ts'
import { createLeftovers } from './leftovers.ts'
import type { FoundOriginal } from './originals.ts'

export interface DeriveRequest extends FoundOriginal {
  client: Client
  /** Who asks first: those who join cause no work. */
  caller: Caller
  /** With at least one step. */
  plan: Plan
  /** What rendering may take, where that is more than usual. */
  timeoutMs?: number
  /** Is told how much of it is done, from 0 to 1, by what takes minutes. */
  progress?: (fraction: number) => void
  /** Asked before it is begun, not of those who join: what it throws is their answer. */
  beforeMaking?: (() => Promise<void>) | undefined
  /** Whether a failure is not the end: it is told of when no other try follows. */
  isTriedAgain?: (error: unknown) => boolean
  signal: AbortSignal
}

/** A derivative that was counted before it is made. */
export interface Reserved {
  clientId: string
  original: ObjectKey
  derivative: ObjectKey
  /** As `reserve` has answered. */
  deadline: number
}

/** Makes derivatives that are not there yet, and stores them. */
export interface Derivations {
  /**
   * Renders a derivative, or waits for whoever renders it already. Answers as soon as the bytes are there, while they
   * are still being stored, unless there are many of them.
   * @throws Problem 404 when the original is going, or a file that a parameter names is not there, 422 when it cannot be
   * transformed, 429 when it has all the derivatives that it may have, 503 when too many wait
   */
  derive(request: DeriveRequest): Promise<Asset>
  /**
   * Counts a derivative that is to be made later among those of its original.
   * @returns until when, in milliseconds since 1970
   * @throws Problem 404 when the original is going, 429 when it has all the derivatives that it may have
   */
  reserve(request: Omit<DeriveRequest, 'caller' | 'signal' | 'progress'>): Promise<number>
  /** Ends what {@link Derivations.reserve} has begun: it is not made after all. */
  release(reserved: Reserved): Promise<void>
  /** Resolves when this process neither makes nor stores this derivative any more, well or not. */
  ended(client: Client, key: ObjectKey): Promise<void>
  /** Resolves when nothing is being made or stored; for an orderly end. */
  idle(): Promise<void>
}

// What is larger would wait in memory for slow readers: it is answered from where it is stored.
const MAX_ANSWERED_BYTES = 8 * 1024 * 1024

// An aborted put may still land, so a delete waits this long past the deadline.
const GRACE_MS = 15_000

export function createDerivations({
  index,
  buckets,
  assets,
  locks,
  events,
  run,
  limits,
  variantLimit,
  log,
  now = Date.now,
}: {
  index: FileIndex
  buckets: Buckets
  assets: Assets
  locks: Locks
  events: EventBus
  run: WorkRunner
  limits: TransformLimits
  /** How many derivatives an original may have, unless the client's rules say otherwise. */
  variantLimit: number
  log: Log
  now?: () => number
}): Derivations {
  // Locks share across processes and answer only at the end; this one answers local callers as soon as the bytes are
  // there.
  const flights = createSharedWorks<Asset>()
  const failures = createFailures(now)
  // Waiting for a turn, rendering, storing: each at most as long as a render may take.
  const limitMsOf = ({ timeoutMs = limits.timeoutMs }: Pick<DeriveRequest, 'timeoutMs'>) => 3 * timeoutMs
  // Makes that are under way, also those that nobody waits for any more.
  const making = new Set<Promise<void>>()

  /** → `pending`. @returns its deadline @throws Problem 404, 429 */
  async function note(
    { client, name, plan, timeoutMs }: Omit<DeriveRequest, 'caller' | 'signal' | 'progress'>,
    key: ObjectKey,
  ): Promise<number> {
    const deadline = now() + limitMsOf(timeoutMs === undefined ? {} : { timeoutMs }) + GRACE_MS
    const atMost = client.rules?.variantLimit ?? variantLimit
    // Nobody can ask for another one of these.
    const limit = plan.variant === INFORMATION_VARIANT ? undefined : { atMost }
    const start = await index.beginDerivative({ clientId: client.id, key: name.key }, key, deadline, limit)
    if (start === 'full') throw tooManyVariants(atMost)
    if (start === 'refused') throw fileNotFound()
    return deadline
  }

  /** `pending` → render, parts → answer → put → `stored`, or without a trace when the original is deleted meanwhile. */
  async function make(
    request: DeriveRequest,
    { key, signal, answer }: { key: ObjectKey; signal: AbortSignal; answer: (asset: Asset) => void },
  ): Promise<void> {
    const { client, caller, name, record, plan, timeoutMs = limits.timeoutMs, progress } = request
    const ref = { clientId: client.id, key: name.key }
    const bucket = buckets.of(client)
    // Whoever held the lock before may have made it since this caller looked.
    const known = (await index.find(ref, key)).derivative
    const stored = known?.state === 'stored' ? await bucket.find(key, known.record) : undefined
    if (stored) return answer(withLastModified(stored, record.storedAt))
    const asset = await assets.of(client, plan)
    const deadline = await note(request, key)
    let putBegun = false
    // Flushed to the disk: after a power cut the derivative, which is put last, may be there, and then they are as well.
    const storePart: EngineContext['storePart'] = async (partName, part) => {
      // Nobody wants the rest of what is deleted by now. An outage may be over when it is asked for good.
      const original = (await unlessStatus(503, index.find(ref)))?.original
      if (original && original.state !== 'stored') throw fileNotFound()
      const bytes = await part.open({ signal })
      putBegun = true
      await bucket.put(partKey(key, partName), bytes, { mediaType: part.mediaType, signal })
    }
    const leftovers = createLeftovers(log, { key })
    try {
      const source = await bucket.find(name.key, record)
      if (!source) throw fileNotFound()
      // Those of a run that was killed.
      await deleteParts(bucket, key)
      const rendered = await run(
        plan,
        { ...source, sha256: record.sha256, probe: keptProbe(record, { clientId: client.id, index, log }) },
        {
          ...{ clientId: client.id, caller, asset, signal, log, storePart },
          limits: { ...limits, timeoutMs },
          ...(progress ? { progress } : {}),
          afterwards: leftovers.add,
        },
      )
      // As old as its original: the same before and after it is stored, and when it is made again. A file is gone by then.
      const isLarge = rendered.size > MAX_ANSWERED_BYTES || rendered.file !== undefined
      if (!isLarge) answer(withLastModified(rendered, record.storedAt))
      const bytes = await rendered.open()
      putBegun = true
      await bucket.put(key, bytes, { mediaType: rendered.mediaType, durable: false, signal })
      const { mediaType, size } = rendered
      if (await index.finishDerivative(ref, { key, mediaType, size })) {
        events.emit('derivative.stored', { clientId: client.id, key, original: name.key, mediaType, size })
        const large = isLarge ? await bucket.find(key, rendered) : undefined
        if (large) answer(withLastModified(large, record.storedAt))
        else if (isLarge) throw fileNotFound()
        return
      }
      await deleteDerivative(bucket, key)
      await index.dropDerivative(ref, key, deadline)
      if (isLarge) throw fileNotFound()
    } catch (error) {
      // After an outage bytes may be there, or still appear: then the entry stays, and a sweep ends it past its deadline.
      const takenBack = putBegun ? deleteParts(bucket, key) : index.dropDerivative(ref, key, deadline)
      await takenBack.catch((err) =>
        log.warn({ err, key }, 'what is left of a derivative is left to the sweep'),
      )
      if (!signal.aborted && !request.isTriedAgain?.(error)) tellFailed(request, key, error)
      throw error
    } finally {
      await leftovers.remove()
    }
  }

  function tellFailed({ client, name }: DeriveRequest, key: ObjectKey, error: unknown): void {
    const { code, message: detail } =
      error instanceof Problem ? error : { code: 'internal', message: 'the transformation failed' }
    events.emit('derivative.failed', { clientId: client.id, key, original: name.key, code, detail })
  }

  function fly(request: DeriveRequest, key: ObjectKey): SharedWork<Asset> {
    const { client, record } = request
    return shareWork<Asset>(
      async (signal, answer) => {
        let made = false
        const work = (held: AbortSignal) => {
          made = true
          return tracked(make(request, { key, signal: held, answer }))
        }
        await locks.share(`derive ${client.id} ${key}`, work, { signal, limitMs: limitMsOf(request) })
        if (made) return
        const stored = await buckets.of(client).find(key)
        if (!stored) throw fileNotFound()
        answer(withLastModified(stored, record.storedAt))
      },
      {
        limitMs: limitMsOf(request),
        onLateFailure: (error) =>
          log.warn({ err: error, client: client.id, key }, 'a derivative was sent but not stored'),
      },
    )
  }

  function tracked(work: Promise<void>): Promise<void> {
    const ended = work.then(
      () => void making.delete(ended),
      () => void making.delete(ended),
    )
    making.add(ended)
    return work
  }

  return {
    async derive(request) {
      const key = derivativeKey(request.name.key, request.plan.variant)
      const flight = flightOf(request.client, key)
      // Of these bytes: another file may get the key of a deleted one. Jobs remember their own failures.
      const failure = request.timeoutMs === undefined ? `${flight} ${request.record.sha256}` : undefined
      if (failure !== undefined) failures.check(failure)
      if (!flights.isUnderWay(flight)) await request.beforeMaking?.()
      try {
        return await flights.join(flight, () => fly(request, key), request.signal)
      } catch (error) {
        if (failure !== undefined) failures.remember(failure, error)
        throw error
      }
    },
    reserve: (request) => note(request, derivativeKey(request.name.key, request.plan.variant)),
    release: ({ clientId, original, derivative, deadline }) =>
      index.dropDerivative({ clientId, key: original }, derivative, deadline),
    ended: (client, key) => flights.ended(flightOf(client, key)),
    async idle() {
      await flights.idle()
      while (making.size > 0) await Promise.all(making)
    },
  }
}

function flightOf({ id }: Client, key: ObjectKey): string {
  return `${id} ${key}`
}
