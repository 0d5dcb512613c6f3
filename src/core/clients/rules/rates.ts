import { z } from 'zod'
import { boundedMembers } from '../../bounded-schemas.ts'
import { badParameter } from '../../problem.ts'
import { CLIENT_LIMIT_NAMES, type ClientLimitName } from '../limit-names.ts'
import { isInteger, numberOrDefault, type Rule } from './rule.ts'

type Rates = Readonly<Partial<Record<ClientLimitName, number>>>
/** Limits that are not named stay unchanged. `false` restores the default of a limit. */
type RateChanges = Readonly<Record<string, number | false>>

/** The maximum of a rate limit. */
export const POINTS_MAX = 1_000_000
/** The maximum of the rate limit of CPU time, in milliseconds. */
export const CPU_MS_MAX = 1_000_000_000

export const ratesRule: Rule<Rates, RateChanges> = {
  flags: '--rate <name=limit|name=default…>',
  help: 'limit per window for upload, derivative, cpu (milliseconds), fetch, media, sign, zip or webhook; 0: unlimited',
  docs: {
    example: 'zip=100',
    json: '(by name: `{"zip": 100, "upload": null}`)',
    effect:
      'Replaces a [rate limit](rate-limits.md) for this client. 0 means no limit. A command may have several `--rate`',
  },
  stored: z.partialRecord(z.enum(CLIENT_LIMIT_NAMES), z.int().min(0)),
  change: (remove) => boundedMembers(z.number().or(remove)),
  expected: 'an object of integers or null, by the name of the limit, or null',
  apply(changes, { present = {} }) {
    const rates = new Map(Object.entries(present))
    for (const [name, points] of Object.entries(changes)) {
      checkRate(name, points)
      if (points === false) rates.delete(name)
      else rates.set(name, points)
    }
    return rates.size > 0 ? Object.fromEntries(rates) : undefined
  },
  parse(text, { before }) {
    const [, name = '', value = ''] = /^([a-z_]+)=(\d{1,10}|default)$/.exec(text) ?? []
    if (name) return { ...(before || {}), [name]: numberOrDefault(value) }
    throw new Error(`expected a rate limit like zip=100 or zip=default but received "${text}"`)
  },
  shown: (rates) =>
    Object.entries(rates)
      .map(([name, points]) => `${name} rate limit ${points === 0 ? 'off' : points}`)
      .join('; '),
}

/** @throws Problem 400 */
function checkRate(name: string, points: number | false): void {
  if (!(CLIENT_LIMIT_NAMES as readonly string[]).includes(name)) {
    const expected = `names among ${CLIENT_LIMIT_NAMES.join(', ')}`
    throw badParameter({ param: 'rates', expected, received: name })
  }
  const max = name === 'cpu' ? CPU_MS_MAX : POINTS_MAX
  if (points === false || isInteger(points, { min: 0, max })) return
  const expected = `an integer from 0 to ${max} (0: no limit)`
  throw badParameter({ param: `rates.${name}`, expected, received: points })
}
