import { deferred } from '../../core/async/deferred.ts'
import type { SingleFlight } from '../../core/async/single-flight.ts'
import { type Problem, unavailable } from '../../core/problem.ts'
import type { Claim } from './redis-claim.ts'
import { type Outcome, outcomeOf, outcomeText } from './redis-outcome.ts'

/** One process's part in a lock: it waits for the outcome of the holder, or it is the holder and runs the work. */
export interface Turn<T> extends SingleFlight<T> {
  /** The lock has changed: check its state now. */
  look(): void
}

// Maximum delay when a message is lost.
const LOOK_EVERY_MS = 1000

/**
 * Starts at once. When this process holds the lock, the work is aborted at its time limit, when the last waiter of all
 * processes has left, or when the lease is lost. Even then the lock is held until the work has ended.
 */
export function takeTurn<T>({
  claim,
  work,
  limitMs,
}: {
  claim: Claim
  work: (signal: AbortSignal) => Promise<T>
  limitMs: number
}): Turn<T> {
  const controller = new AbortController()
  const { signal: aborted } = controller
  const { promise: reply, resolve, reject } = deferred<T>()
  let callers = 0
  let state: 'waiting' | 'working' | 'ended' = 'waiting'
  /** Called when the lock or the number of callers has changed. */
  let look = () => {}

  function giveUp(reason: unknown): void {
    controller.abort(reason)
    reject(reason)
  }

  function settle(outcome: Outcome<T>): void {
    state = 'ended'
    if ('value' in outcome) resolve(outcome.value)
    else reject(outcome.error)
  }

  /** @returns the holder's outcome; or, when this process becomes the holder, the start of its lease */
  async function wait(): Promise<Outcome<T> | { heldSince: number }> {
    for (let awaited = ''; ; ) {
      // Created before the request, so that a message which arrives during the request counts.
      const changed = deferred<void>()
      look = changed.resolve
      const heldSince = performance.now()
      const reply = await claim.ask(awaited)
      if (reply === 'held') return { heldSince }
      if ('outcome' in reply) return outcomeOf(reply.outcome) as Outcome<T>
      awaited = reply.awaited
      // The lease of a dead holder expires without a message.
      const timer = setTimeout(look, Math.min(LOOK_EVERY_MS, claim.leaseMs / 3, reply.restMs + 1))
      if (!aborted.aborted) await changed.promise
      clearTimeout(timer)
      if (aborted.aborted) await claim.leave()
      aborted.throwIfAborted()
    }
  }

  async function hold(heldSince: number): Promise<void> {
    // All callers have left while the response was on its way.
    if (aborted.aborted) return claim.finish()
    state = 'working'
    const limit = setTimeout(() => {
      const error = unavailable('The work timed out.')
      giveUp(error)
      claim.giveUp(outcomeText({ error })).catch(() => {})
    }, limitMs)
    const lease = keepLease(heldSince)
    const ended = await outcomeFor(() => {
      // The response took longer than the lease: another process may hold the lock.
      if (performance.now() - heldSince >= claim.leaseMs) throw interrupted()
      return work(aborted)
    })
    state = 'ended'
    clearTimeout(limit)
    lease.stop()
    // Callers get the outcome only after the lock was released. So a later call starts new work.
    await claim.finish(aborted.aborted ? undefined : ended.text).catch(() => {})
    settle(ended.outcome)
  }

  /** Renews the lease until it is stopped. Aborts the work when a renewal was not possible in time. */
  function keepLease(heldSince: number): { stop(): void } {
    let expiry: NodeJS.Timeout | undefined
    const lose = () => giveUp(interrupted())
    // Counted from before the request was sent, so the lease never lasts longer here than in Redis.
    const leased = (from: number) => {
      clearTimeout(expiry)
      expiry = setTimeout(lose, from + claim.leaseMs - performance.now())
    }
    const renew = async () => {
      const from = performance.now()
      const renewed = await claim.renew({ alone: callers === 0 })
      if (state !== 'working') return
      if (renewed === 'lost') lose()
      else leased(from)
      // A caller that joined since then still gets the outcome.
      if (renewed === 'abandoned' && callers === 0) giveUp(noWaiters())
    }
    look = () => {
      // Without a response from Redis, the lease expires.
      if (state === 'working') renew().catch(() => {})
    }
    leased(heldSince)
    const renewal = setInterval(() => look(), claim.leaseMs / 3)
    return {
      stop() {
        clearTimeout(expiry)
        clearInterval(renewal)
      },
    }
  }

  async function run(): Promise<void> {
    // One microtask later, so that the first caller has joined.
    await null
    try {
      const begun = await wait()
      if ('heldSince' in begun) await hold(begun.heldSince)
      else settle(begun)
    } catch (error) {
      settle({ error })
    }
  }

  return {
    ended: run(),
    look: () => look(),
    get abandoned() {
      return aborted.aborted
    },
    async join(signal) {
      signal?.throwIfAborted()
      callers += 1
      const left = deferred<never>()
      const leave = () => left.reject(signal?.reason)
      signal?.addEventListener('abort', leave, { once: true })
      try {
        return await Promise.race([reply, left.promise])
      } finally {
        signal?.removeEventListener('abort', leave)
        callers -= 1
        if (callers === 0) {
          if (state === 'waiting') giveUp(noWaiters())
          // While the work runs, callers in other processes may still wait: `look` checks this.
          look()
        }
      }
    },
  }
}

function interrupted(): Problem {
  return unavailable('The work was interrupted. Try again.')
}

function noWaiters(): DOMException {
  return new DOMException('no caller waits any more', 'AbortError')
}

/** Runs `work` and returns its outcome, also as text. A result that cannot be serialized is a failure. */
async function outcomeFor<T>(work: () => Promise<T>): Promise<{ outcome: Outcome<T>; text: string }> {
  try {
    const outcome = { value: await work() }
    return { outcome, text: outcomeText(outcome) }
  } catch (error) {
    return { outcome: { error }, text: outcomeText({ error }) }
  }
}
