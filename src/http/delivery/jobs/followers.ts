import { setTimeout as pause } from 'node:timers/promises'
import { createPlaces } from '../../../core/budgets/places.ts'
import { busy, Problem, retryAfter } from '../../../core/problem.ts'

/**
 * Takes a place for a response that stays open. @returns a function that releases it
 * @throws Problem 429 when the address has no place left, 503 when the process has none
 */
export type TakeFollowerPlace = (address: string) => () => void

/** The maximum of open event streams, in this process and for one IP address. */
export interface FollowerLimits {
  atMost: number
  addressAtMost: number
}

const RETRY_AFTER_SECONDS = 30

// A stream is an idle connection of some 20 KB. An office behind one address may follow a hundred jobs.
const LIMITS: FollowerLimits = { atMost: 2000, addressAtMost: 100 }

/** The places for event streams of this process. */
export function createFollowerPlaces({ atMost, addressAtMost } = LIMITS): TakeFollowerPlace {
  const places = createPlaces()

  return (address) => {
    const taken = places.take([
      { name: `address ${address}`, atMost: addressAtMost, isOfAddress: true },
      { name: 'all', atMost, isOfAddress: false },
    ])
    if ('giveBack' in taken) return taken.giveBack
    if (taken.full.isOfAddress) throw tooManyFollowers(addressAtMost)
    throw busy(`Too many event streams are open (limit ${atMost}). Poll the same URL as JSON instead.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }
}

function tooManyFollowers(limit: number): Problem {
  const { members, headers } = retryAfter(RETRY_AFTER_SECONDS)
  return new Problem({
    status: 429,
    code: 'too_many_followers',
    detail: `Too many event streams are open from your IP address (limit ${limit}). Poll the same URL as JSON instead.`,
    members: { limit, ...members },
    headers,
  })
}

/**
 * The next read of the job with this name, at most one interval from now. All callers until then share its result.
 *
 * @param look called once for all of them
 * @throws what `look` throws
 */
export type NextLook<T> = (name: string, look: () => Promise<T>) => Promise<T>

/** Reads a job once per interval, however many callers wait for it. `everyMs`: the interval. */
export function createSharedLooks<T>({ everyMs }: { everyMs: number }): NextLook<T> {
  const coming = new Map<string, Promise<T>>()

  return (name, look) => {
    const known = coming.get(name)
    if (known !== undefined) return known
    const next = pause(everyMs)
      .then(look)
      .finally(() => coming.delete(name))
    coming.set(name, next)
    return next
  }
}
