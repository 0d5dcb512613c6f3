import { deferred } from '../../core/async/deferred.ts'
import type { SingleFlight } from '../../core/async/single-flight.ts'
import { unavailable } from '../../core/problem.ts'
import type { Claim } from './redis-claim.ts'
import { type Outcome, outcomeOf, outcomeText } from './redis-outcome.ts'

/** The part that one process takes in a lock: it waits for the holder's outcome, or holds it and works. */
export interface Turn<T> extends SingleFlight<T> {
  /** Something about the lock has changed. */
  look(): void
}

// How long a lost message may go unnoticed.
const LOOK_EVERY_MS = 1000

/**
 * Begins at once. The work, once this process has the lock, is aborted when its limit is over, when the last waiter of
 * all processes has left, or when the lease was lost; the lock is kept until it has come to its end all the same.
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
  const { promise: answer, resolve, reject } = deferred<T>()
  let callers = 0
  let state: 'waiting' | 'working' | 'ended' = 'waiting'
  /** What to do when the lock has changed, or the callers have. */
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

  /** @returns the holder's outcome, or since when this process is the holder */
  async function wait(): Promise<Outcome<T> | { heldSince: number }> {
    for (let awaited = ''; ; ) {
      // Made before asking: what is told while the answer is on its way counts.
      const changed = deferred<void>()
      look = changed.resolve
      const heldSince = performance.now()
      const answer = await claim.ask(awaited)
      if (answer === 'held') return { heldSince }
      if ('told' in answer) return outcomeOf(answer.told) as Outcome<T>
      awaited = answer.awaited
      // A dead holder's lease ends without a message.
      const timer = setTimeout(look, Math.min(LOOK_EVERY_MS, claim.leaseMs / 3, answer.restMs + 1))
      if (!aborted.aborted) await changed.promise
      clearTimeout(timer)
      if (aborted.aborted) await claim.leave()
      aborted.throwIfAborted()
    }
  }

  async function hold(heldSince: number): Promise<void> {
    // All have left while the answer was on its way.
    if (aborted.aborted) return claim.finish()
    state = 'working'
    const limit = setTimeout(() => {
      const error = unavailable('this took too long and was given up')
      giveUp(error)
      claim.giveUp(outcomeText({ error })).catch(() => {})
    }, limitMs)
    const lease = keepLease(heldSince)
    const ended = await outcomeFor(() => work(aborted))
    state = 'ended'
    clearTimeout(limit)
    lease.stop()
    // Those here learn it when the lock is free: who asks again after that begins anew.
    await claim.finish(aborted.aborted ? undefined : ended.text).catch(() => {})
    settle(ended.outcome)
  }

  /** Renews the lease until it is stopped, and aborts the work when that was in vain. */
  function keepLease(heldSince: number): { stop(): void } {
    let expiry: NodeJS.Timeout | undefined
    const lose = () => giveUp(unavailable('this was interrupted and may have been begun again; try again'))
    // From before the request for it was sent: so it never ends later here than in Redis.
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
      // Whoever has come here meanwhile gets the outcome all the same.
      if (renewed === 'abandoned' && callers === 0) giveUp(nobodyWaits())
    }
    look = () => {
      // Without an answer from Redis the lease runs out.
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
    // A promise turn later, so that the first caller has joined.
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
        return await Promise.race([answer, left.promise])
      } finally {
        signal?.removeEventListener('abort', leave)
        callers -= 1
        if (callers === 0) {
          if (state === 'waiting') giveUp(nobodyWaits())
          // While the work goes on, those of other processes may still wait: look asks for them.
          look()
        }
      }
    },
  }
}

function nobodyWaits(): DOMException {
  return new DOMException('nobody waits any more', 'AbortError')
}

/** How `work` ends, also as text: a result that cannot travel is a failure. */
async function outcomeFor<T>(work: () => Promise<T>): Promise<{ outcome: Outcome<T>; text: string }> {
  try {
    const outcome = { value: await work() }
    return { outcome, text: outcomeText(outcome) }
  } catch (error) {
    return { outcome: { error }, text: outcomeText({ error }) }
  }
}
