import { type Asset, assetFromBytes, readAll, withLastModified } from '../core/asset.ts'
import { type CpuPayer, type CpuTime, isOutOfCpuTime } from '../core/budgets/cpu-time.ts'
import { createFailures } from '../core/budgets/failures.ts'
import type { Client } from '../core/client.ts'
import { heldAsset } from '../core/held-asset.ts'
import { outputTooLarge, tooManyVariants } from '../core/limit-problems.ts'
import type { Log } from '../core/log.ts'
import { derivativeKey, type ObjectKey, partKey } from '../core/object-key.ts'
import type { EngineContext, TransformLimits } from '../core/plugin.ts'
import type { Buckets } from '../core/ports/bucket.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import type { FileIndex } from '../core/ports/file-index.ts'
import type { Locks } from '../core/ports/locks.ts'
import { fileNotFound, fileReplaced, Problem, unlessStatus } from '../core/problem.ts'
import { createSharedWorks, type SharedWork, shareWork } from '../core/shared-work.ts'
import { INFORMATION_VARIANT } from '../core/variant.ts'
import { isLasting } from '../pipeline/lasting.ts'
import type { WorkRunner } from '../pipeline/run.ts'
import type { Answered } from './answered.ts'
import type { Assets } from './assets.ts'
import { deleteDerivative, deleteParts } from './delete-all.ts'
import type { Derivations, DeriveRequest, MadeAsset } from './derivations.ts'
import { countParts } from './derivative-parts.ts'
import {
  bytesOfDerivatives,
  type Claim,
  createDerivativeSpace,
  type DerivativeLimits,
} from './derivative-space.ts'
import type { Evict } from './evict.ts'
import { keptProbe } from './kept-probe.ts'
import { createLeftovers } from './leftovers.ts'
import { bytesToTransform } from './original-bytes.ts'
import type { Originals } from './originals.ts'
import { sourceFacts } from './source-facts.ts'

// What is larger would wait in memory for slow readers: it is answered from where it is stored.
const MAX_ANSWERED_BYTES = 8 * 1024 * 1024

// An aborted put may still land, so a delete waits this long past the deadline.
const GRACE_MS = 15_000

type Unrendered = Omit<DeriveRequest, 'caller' | 'signal' | 'progress'>

/** Makes derivatives that are not there yet, and stores them. */
export function createDerivations({
  index,
  buckets,
  assets,
  originals,
  locks,
  events,
  run,
  cpuTime,
  limits,
  derivativeLimits,
  evict,
  answered,
  log,
  now = Date.now,
}: {
  index: FileIndex
  buckets: Buckets
  assets: Assets
  originals: Pick<Originals, 'resolve'>
  locks: Locks
  events: EventBus
  run: WorkRunner
  cpuTime: Pick<CpuTime, 'check'>
  limits: TransformLimits
  derivativeLimits: DerivativeLimits
  evict: Evict
  answered: Answered
  log: Log
  now?: () => number
}): Derivations {
  // Locks share across processes and answer only at the end; this one answers local callers as soon as the bytes are
  // there.
  const flights = createSharedWorks<MadeAsset>()
  const space = createDerivativeSpace({ index, evict, limits: derivativeLimits, log })
  const failures = createFailures(now)
  // Waiting for a turn, rendering, storing: each at most as long as a render may take.
  const limitMsOf = ({ timeoutMs = limits.timeoutMs }: Pick<DeriveRequest, 'timeoutMs'>) => 3 * timeoutMs
  // Makes that are under way, also those that nobody waits for any more.
  const making = new Set<Promise<void>>()

  const claimOf = ({ client, record, isHeld = false }: Unrendered, key: ObjectKey): Claim => ({
    ...{ client, original: record, key, isHeld },
  })

  /** → `pending`. @returns its deadline, or undefined when there is no room to store it @throws Problem 404 */
  async function note(request: Unrendered, key: ObjectKey): Promise<number | undefined> {
    const { plan, timeoutMs } = request
    const deadline = now() + limitMsOf(timeoutMs === undefined ? {} : { timeoutMs }) + GRACE_MS
    // Callers can request only one of these.
    const limited = plan.variant !== INFORMATION_VARIANT
    const begin = () => unlessStatus(404, space.begin(claimOf(request, key), { deadline, limited }))
    let isStorable = await begin()
    // The index was emptied after the original was found: a Redis that has come back. The bucket still has it.
    if (isStorable === undefined && (await originals.resolve(request.client, { full: request.name })))
      isStorable = await begin()
    if (isStorable === undefined) throw fileNotFound()
    return isStorable ? deadline : undefined
  }

  /** @throws Problem 404, 429 */
  async function reserved(request: Unrendered, key: ObjectKey): Promise<number> {
    const deadline = await note(request, key)
    if (deadline === undefined) throw tooManyVariants(space.atMost(request.client))
    return deadline
  }

  /** A rendered derivative that is not stored. @throws Problem 429 when it would wait in memory for slow readers */
  async function unstored(rendered: Asset, { client, record }: Unrendered): Promise<MadeAsset> {
    if (rendered.size > MAX_ANSWERED_BYTES) throw tooManyVariants(space.atMost(client))
    const { mediaType, lastModified } = rendered
    const asset = rendered.file
      ? assetFromBytes(await readAll(rendered), { mediaType, lastModified })
      : rendered
    return { ...withLastModified(asset, record.storedAt), isUnstored: true }
  }

  /** `pending` → render, parts → answer → put → `stored`, or without a trace when the original is deleted meanwhile. */
  async function make(
    request: DeriveRequest,
    { key, signal, answer }: { key: ObjectKey; signal: AbortSignal; answer: (asset: MadeAsset) => void },
  ): Promise<void> {
    const { client, name, record, plan, timeoutMs = limits.timeoutMs, progress, isHeld = false } = request
    const ref = { clientId: client.id, key: name.key }
    const bucket = buckets.of(client)
    // Whoever held the lock before may have made it since this caller looked.
    const known = (await index.find(ref, key)).derivative
    const entry = known?.state === 'stored' ? known.record : undefined
    const stored = entry && (await bucket.find(key, entry))
    if (stored?.size === entry?.size && stored) return answer(withLastModified(stored, record.storedAt))
    const asset = await assets.of(client, plan)
    // A job's callers come back for what is stored.
    const deadline = await (isLasting(plan) ? reserved : note)(request, key)
    const mostOfAll = bytesOfDerivatives(record.size, derivativeLimits.derivativesMaxTimes)
    const outputMaxBytes = Math.min(limits.outputMaxBytes, mostOfAll)
    const parts = countParts(outputMaxBytes)
    let putBegun = false
    // Flushed to the disk: after a power cut the derivative, which is put last, may be there, and then they are as well.
    const storePart: EngineContext['storePart'] = async (partName, part) => {
      // Nobody wants the rest of what is deleted by now. An outage may be over when it is asked for good.
      const original = (await unlessStatus(503, index.find(ref)))?.original
      if (original && original.state !== 'stored') throw fileNotFound()
      parts.count(partName, part.size)
      const bytes = await part.open({ signal })
      putBegun = true
      await bucket.put(partKey(key, partName), bytes, { mediaType: part.mediaType, signal })
    }
    const drop = async () => {
      if (deadline !== undefined) await index.dropDerivative(ref, key, deadline)
    }
    const leftovers = createLeftovers(log, { key })
    let endStoring = () => {}
    try {
      const source = await bytesToTransform(bucket, record)
      if (!source) throw fileNotFound()
      // Those of a run that was killed.
      await deleteParts(bucket, key)
      const rendered = await run(
        plan,
        {
          ...{ ...source, ...sourceFacts(record) },
          probe: keptProbe(record, { clientId: client.id, index, log }),
        },
        {
          ...{ ...payerOf(request), asset, signal, log, storePart },
          limits: { ...limits, timeoutMs, outputMaxBytes },
          ...(progress ? { progress } : {}),
          afterwards: leftovers.add,
        },
      )
      const { mediaType, size } = rendered
      if (size + parts.bytes() > outputMaxBytes) throw outputTooLarge(outputMaxBytes)
      // An index that cannot be asked refuses nothing: what is rendered is delivered.
      const makeRoom = () => space.makeRoom(claimOf(request, key), size + parts.bytes())
      const hasRoom = deadline !== undefined && ((await unlessStatus(503, makeRoom())) ?? true)
      if (!hasRoom) {
        if (isLasting(plan)) throw tooManyVariants(space.atMost(client))
        const passing = await unstored(rendered, request)
        await drop()
        return answer(passing)
      }
      // As old as its original: the same before and after it is stored, and when it is made again. A file is gone by then.
      const isLarge = size > MAX_ANSWERED_BYTES || rendered.file !== undefined
      const held = heldAsset(rendered)
      if (!isLarge) {
        endStoring = answered.begin(ref)
        answer(withLastModified(held.asset, record.storedAt))
      }
      const bytes = await rendered.open()
      putBegun = true
      await bucket.put(key, bytes, { mediaType, durable: false, signal })
      const stores = { key, mediaType, size, ...parts.members() }
      if (await index.finishDerivative(ref, stores, { at: now(), isHeld })) {
        events.emit('derivative.stored', { clientId: client.id, key, original: name.key, mediaType, size })
        // Slow readers get the rest from the bucket.
        held.letGo(async () => {
          const stored = await bucket.find(key, { mediaType })
          if (stored && stored.size !== size) throw fileReplaced()
          return stored
        })
        const large = isLarge ? await bucket.find(key, rendered) : undefined
        if (large) answer(withLastModified(large, record.storedAt))
        else if (isLarge) throw fileNotFound()
        return
      }
      await deleteDerivative(bucket, key)
      await drop()
      if (isLarge) throw fileNotFound()
    } catch (error) {
      // After an outage bytes may be there, or still appear: then the entry stays, and a sweep ends it past its deadline.
      const takenBack = putBegun ? deleteParts(bucket, key) : drop()
      await takenBack.catch((err) =>
        log.warn({ err, key }, 'what is left of a derivative is left to the sweep'),
      )
      if (!signal.aborted && !request.isTriedAgain?.(error)) tellFailed(request, key, error)
      throw error
    } finally {
      endStoring()
      await leftovers.remove()
    }
  }

  function tellFailed({ client, name }: DeriveRequest, key: ObjectKey, error: unknown): void {
    const { code, message: detail } =
      error instanceof Problem ? error : { code: 'internal', message: 'the transformation failed' }
    events.emit('derivative.failed', { clientId: client.id, key, original: name.key, code, detail })
  }

  function fly(request: DeriveRequest, key: ObjectKey): SharedWork<MadeAsset> {
    const { client, record } = request
    return shareWork<MadeAsset>(
      async (signal, answer) => {
        let made = false
        const work = (held: AbortSignal) => {
          made = true
          return tracked(make(request, { key, signal: held, answer }))
        }
        const shared = locks.share(`derive ${client.id} ${key}`, work, {
          signal,
          limitMs: limitMsOf(request),
        })
        await shared.catch((error) => {
          // The caller of another process has no CPU time left, which is no reason to refuse this one.
          if (made || !isOutOfCpuTime(error)) throw error
        })
        if (made) return
        const stored = await buckets.of(client).find(key)
        if (stored) return answer(withLastModified(stored, record.storedAt))
        // Another process had no room to store it, or its original is deleted: that is a 404.
        await work(signal)
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
      // Of these bytes: another file may get the key of a deleted one; and one that is known to be truncated by now is
      // rendered in another way. Jobs remember their own failures.
      const { sha256, truncated = false } = request.record
      const failure = request.timeoutMs === undefined ? `${flight} ${sha256} ${truncated}` : undefined
      if (failure !== undefined) failures.check(failure)
      const join = async () => {
        if (!flights.isUnderWay(flight)) {
          await request.beforeMaking?.()
          // Before the index is written to. Its run looks again when its turn comes.
          if (!isLasting(request.plan)) await cpuTime.check(payerOf(request))
        }
        return flights.join(flight, () => fly(request, key), request.signal)
      }
      const isOfAnother = flights.isUnderWay(flight)
      try {
        return await join().catch((error) => {
          if (isOfAnother && isOutOfCpuTime(error)) return join()
          throw error
        })
      } catch (error) {
        if (failure !== undefined) failures.remember(failure, error)
        throw error
      }
    },
    reserve: (request) => reserved(request, derivativeKey(request.name.key, request.plan.variant)),
    release: ({ clientId, original, derivative, deadline }) =>
      index.dropDerivative({ clientId, key: original }, derivative, deadline),
    ended: (client, key) => flights.ended(flightOf(client, key)),
    async idle() {
      await flights.idle()
      while (making.size > 0) await Promise.all(making)
    },
  }
}

function payerOf({ client, caller }: DeriveRequest): CpuPayer {
  return { clientId: client.id, caller, rates: client.rules?.rates }
}

function flightOf({ id }: Client, key: ObjectKey): string {
  return `${id} ${key}`
}
