import { withLastModified } from '../core/asset.ts'
import { type CpuTime, isOutOfCpuTime } from '../core/budgets/cpu-time.ts'
import { createFailures } from '../core/budgets/failures.ts'
import type { Client } from '../core/client.ts'
import { derivativeKey, type ObjectKey } from '../core/object-key.ts'
import type { Locks } from '../core/ports/locks.ts'
import { createSharedWorks, type SharedWork, shareWork } from '../core/shared-work.ts'
import { isLasting } from '../pipeline/lasting.ts'
import type { Derivations, DeriveRequest, MadeAsset } from './derivations.ts'
import { createMaker, type MakerOptions, payerOf } from './make-derivative.ts'

/** Makes derivatives that are not there yet, and stores them: one run for all callers, in this process and in the others. */
export function createDerivations({
  locks,
  cpuTime,
  now = Date.now,
  ...options
}: Omit<MakerOptions, 'now'> & {
  locks: Locks
  cpuTime: Pick<CpuTime, 'check'>
  now?: () => number
}): Derivations {
  const { index, buckets, log } = options
  const { make, reserve, limitMsOf } = createMaker({ ...options, now })
  // Locks share across processes and answer only at the end; this one answers local callers as soon as the bytes are
  // there.
  const flights = createSharedWorks<MadeAsset>()
  const failures = createFailures(now)
  // Makes that are under way, also those that nobody waits for any more.
  const making = new Set<Promise<void>>()

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
      // Of these bytes: another file may get the key of a deleted one. Jobs remember their own failures.
      const failure = request.timeoutMs === undefined ? `${flight} ${request.record.sha256}` : undefined
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
    reserve: (request) => reserve(request, derivativeKey(request.name.key, request.plan.variant)),
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
