import { LIMIT_NAMES, type LimitName } from '../../core/clients/limit-names.ts'
import type { Limit, Limits, RateLimiter } from '../../core/ports/rate-limiter.ts'

/** Points per time window of `seconds`, per client and per IP address. 0 points: unlimited. */
export interface Rate {
  points: number
  addressPoints: number
  seconds: number
}

/**
 * Creates the limiters by client and by IP address for each limited action. `open` creates one limiter with a unique
 * name.
 */
export function openLimits(
  rateOf: (limited: LimitName) => Rate,
  open: (options: { name: string; points: number; seconds: number }) => RateLimiter,
): Limits {
  const limits = LIMIT_NAMES.map((name): [string, Limit] => {
    const { points, addressPoints, seconds } = rateOf(name)
    // All limits of one action share one name, so with Redis they share one count: a changed limit includes earlier
    // requests.
    const ofPoints = new Map<number, RateLimiter>()
    const byClientWith = (own: number) => {
      const limiter = ofPoints.get(own) ?? open({ name, points: own, seconds })
      ofPoints.set(own, limiter)
      return limiter
    }
    return [
      name,
      {
        byClientWith,
        ...(points > 0 ? { byClient: byClientWith(points) } : {}),
        ...(addressPoints > 0
          ? { byAddress: open({ name: `${name}_address`, points: addressPoints, seconds }) }
          : {}),
      },
    ]
  })
  return Object.fromEntries(limits) as Limits
}
