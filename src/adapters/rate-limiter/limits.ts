import { LIMITED, type Limit, type Limits, type RateLimiter } from '../../core/ports/rate-limiter.ts'

/** How often one thing may be done in `seconds`; 0 points: as often as they like. */
export interface Rate {
  points: number
  addressPoints: number
  seconds: number
}

/** A limiter for each thing that is limited, by client and by address; `open` makes one of a name that is its own. */
export function openLimits(
  rateOf: (limited: (typeof LIMITED)[number]) => Rate,
  open: (options: { name: string; points: number; seconds: number }) => RateLimiter,
): Limits {
  const limits = LIMITED.map((name): [string, Limit] => {
    const { points, addressPoints, seconds } = rateOf(name)
    return [
      name,
      {
        ...(points > 0 ? { byClient: open({ name, points, seconds }) } : {}),
        ...(addressPoints > 0
          ? { byAddress: open({ name: `${name}_address`, points: addressPoints, seconds }) }
          : {}),
      },
    ]
  })
  return Object.fromEntries(limits) as Limits
}
