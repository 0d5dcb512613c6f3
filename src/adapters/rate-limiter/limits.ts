import { LIMIT_NAMES, type LimitName } from '../../core/clients/limit-names.ts'
import type { Limit, Limits, RateLimiter } from '../../core/ports/rate-limiter.ts'

/** How often one thing may be done in `seconds`; 0 points: as often as they like. */
export interface Rate {
  points: number
  addressPoints: number
  seconds: number
}

/** A limiter for each thing that is limited, by client and by address; `open` makes one of a name that is its own. */
export function openLimits(
  rateOf: (limited: LimitName) => Rate,
  open: (options: { name: string; points: number; seconds: number }) => RateLimiter,
): Limits {
  const limits = LIMIT_NAMES.map((name): [string, Limit] => {
    const { points, addressPoints, seconds } = rateOf(name)
    // Of one name, so that with Redis all of them see one count: a new number holds for what has been counted already.
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
