import { createSingleFlights, type SingleFlight, singleFlight } from '../../core/async/single-flight.ts'
import { type CpuTime, isOutOfCpuTime } from '../../core/budgets/cpu-time.ts'
import { createFailures } from '../../core/budgets/failures.ts'
import { withLastModified } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey, type ObjectKey } from '../../core/files/object-key.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { unavailable } from '../../core/problem.ts'
import { runsAsJob } from '../../pipeline/plan/runs-as-job.ts'
import { createProxies, type ProxiesOptions } from '../proxies/proxies.ts'
import type { Derivations, DeriveRequest, MadeAsset } from './derivations.ts'
import { createMaker, type MakerOptions, payerOf } from './make.ts'

/** Renders and stores derivatives: one run for all callers, in this process and in the others. */
export function createDerivations({
  locks,
  cpuTime,
  proxies: proxyOptions,
  now = Date.now,
  ...options
}: Omit<MakerOptions, 'now' | 'proxiesOf'> & {
  locks: Locks
  cpuTime: Pick<CpuTime, 'check'>
  /** Without it, no proxies are made or used. */
  proxies?: Pick<ProxiesOptions, 'uses' | 'plan' | 'isBusy'> | undefined
  now?: () => number
}): Derivations {
  const { index, buckets, log } = options
  const proxies =
    proxyOptions &&
    createProxies({ index, buckets, log, ...proxyOptions, derive: (request) => derive(request) })
  const { make, reserve, limitMsOf } = createMaker({ ...options, proxiesOf: proxies?.of, now })
  // Locks share a run across processes, and return only at its end. The flight returns to callers of this process as soon as
  // the bytes are rendered.
  const flights = createSingleFlights<MadeAsset>()
  const failures = createFailures(now)
  // Runs in progress, including those without callers.
  const making = new Set<Promise<void>>()

  function start(request: DeriveRequest, key: ObjectKey): SingleFlight<MadeAsset> {
    const { client, record } = request
    return singleFlight<MadeAsset>(
      async (signal, respond) => {
        let made = false
        const work = (held: AbortSignal) => {
          made = true
          return tracked(make(request, { key, signal: held, respond }))
        }
        /** @returns false when another process held the lock, and its caller has no CPU time left */
        const shared = () =>
          locks.share(`derive ${client.id} ${key}`, work, { signal, limitMs: limitMsOf(request) }).then(
            () => true,
            (error) => {
              if (made || !isOutOfCpuTime(error)) throw error
              return false
            },
          )
        // One of the callers that waited for that holder becomes the next holder.
        while (!(await shared())) await checkCpuTime(request)
        if (made) return
        const stored = await buckets.of(client).find(key)
        if (stored) return respond(withLastModified(stored, record.storedAt))
        // Another process had no room to store it; or its original is deleted, and the response is 404.
        await work(signal)
      },
      {
        limitMs: limitMsOf(request),
        onLateFailure: (error) =>
          log.warn({ err: error, client: client.id, key }, 'a derivative was sent but not stored'),
      },
    )
  }

  /** Checks the CPU time before the index is changed. The run checks it again when its turn comes. @throws Problem 429 */
  async function checkCpuTime(request: DeriveRequest): Promise<void> {
    if (!runsAsJob(request.plan)) await cpuTime.check(payerOf(request))
  }

  /**
   * Joins the flight of this process, or begins it. When the caller that has begun it runs out of CPU time, a caller that has
   * joined begins another one, until its own time limit.
   */
  async function join(request: DeriveRequest, key: ObjectKey): Promise<MadeAsset> {
    const flight = flightOf(request.client, key)
    const until = now() + limitMsOf(request)
    let mayBegin = request.beforeRender === undefined
    for (;;) {
      if (!flights.isUnderWay(flight)) {
        if (!mayBegin) await request.beforeRender?.()
        mayBegin = true
        await checkCpuTime(request)
      }
      let isOwn = false
      const begin = () => {
        isOwn = true
        return start(request, key)
      }
      try {
        return await flights.join(flight, begin, request.signal)
      } catch (error) {
        if (isOwn || !isOutOfCpuTime(error)) throw error
        if (now() >= until) throw unavailable('The derivative was not rendered in time. Retry.')
      }
    }
  }

  function tracked(work: Promise<void>): Promise<void> {
    const ended = work.then(
      () => void making.delete(ended),
      () => void making.delete(ended),
    )
    making.add(ended)
    return work
  }

  async function derive(request: DeriveRequest): Promise<MadeAsset> {
    const key = derivativeKey(request.name.key, request.plan.variant)
    const flight = flightOf(request.client, key)
    // The failure is about these bytes: another file may get the key of a deleted one. A file that is marked as truncated since
    // then is rendered in another way. Jobs remember their own failures.
    const { sha256, truncated = false } = request.record
    const failure = request.timeoutMs === undefined ? `${flight} ${sha256} ${truncated}` : undefined
    if (failure !== undefined) failures.check(failure)
    try {
      return await join(request, key)
    } catch (error) {
      if (failure !== undefined) failures.remember(failure, error)
      throw error
    }
  }

  return {
    derive,
    reserve: (request) => reserve(request, derivativeKey(request.name.key, request.plan.variant)),
    release: ({ clientId, original, derivative, deadline }) =>
      index.dropDerivative({ clientId, key: original }, derivative, deadline),
    ended: (client, key) => flights.ended(flightOf(client, key)),
    async idle() {
      await proxies?.stop()
      await flights.idle()
      while (making.size > 0) await Promise.all(making)
    },
  }
}

function flightOf({ id }: Client, key: ObjectKey): string {
  return `${id} ${key}`
}
