import type { ClientRules, PresetSettings } from '../../core/clients/client.ts'
import { CLIENT_LIMIT_NAMES, type ClientLimitName } from '../../core/clients/limit-names.ts'
import { namesHost } from '../../core/net/host-patterns.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'

/** A change of rules by an operator. An absent rule stays unchanged, `false` removes it. */
export interface RuleChanges {
  signedUrls?: boolean | undefined
  presetsOnly?: boolean | undefined
  /** Widths in pixels, in any order. */
  allowedWidths?: readonly number[] | false | undefined
  variantLimit?: number | false | undefined
  derivativesMaxBytes?: number | false | undefined
  /** An empty list allows no host; `false` restores the default. */
  fetchHosts?: readonly string[] | 'any' | false | undefined
  fetchDenyHosts?: readonly string[] | false | undefined
  keepDeletedSeconds?: number | false | undefined
  dedupe?: 'reuse' | false | undefined
  uploadMaxBytes?: number | false | undefined
  /** Each limit is changed by itself: limits that are not named stay unchanged. `false` removes all. */
  rates?: Readonly<Record<string, number | false>> | false | undefined
  /** Replaces all presets. */
  presets?: PresetSettings | false | undefined
}

/** Limits for the values of rules. */
export interface RuleBounds {
  /** The maximum upload size of the installation. */
  uploadMaxBytes: number
  /** The errors in presets, one line each. */
  wrongPresets(settings: PresetSettings): readonly string[]
}

// The maximum of the parameter `w`.
const WIDTH_MAX = 5000
// Each request looks up its width in the list.
const WIDTHS_MAX = 100
// The maximum of VARIANT_LIMIT.
const VARIANTS_MAX = 1_000_000
// The maximum of DERIVATIVES_MAX_BYTES: 15 digits.
const DERIVATIVES_MAX_BYTES = 999_999_999_999_999
// Each host is compared at every hop of a fetch.
const HOSTS_MAX = 100
// 90 days.
const KEEP_DELETED_MAX_SECONDS = 7_776_000
// The maximum of the rate limit variables.
const POINTS_MAX = 1_000_000
const CPU_MS_MAX = 1_000_000_000
const PRESETS_MAX = 100
const PRESET_PARAMETERS_MAX = 50
const PRESET_VALUE_MAX_LENGTH = 2000
// The pattern in config/presets.ts.
const PRESET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Applies changes to rules. @returns undefined when no rule is left @throws Problem 400 */
export function changedRules(
  present: ClientRules,
  changes: RuleChanges,
  bounds: RuleBounds,
): ClientRules | undefined {
  const after = (name: keyof RuleChanges) => {
    const change = changes[name]
    if (change === undefined) return present[name]
    const check: (change: never, context: CheckContext) => unknown = CHECKS[name]
    return change === false ? undefined : check(change as never, { present, bounds })
  }
  const rules = (Object.keys(CHECKS) as Array<keyof RuleChanges>)
    .map((name) => [name, after(name)])
    .filter(([, rule]) => rule !== undefined)
  return rules.length > 0 ? Object.fromEntries(rules) : undefined
}

interface CheckContext {
  present: ClientRules
  bounds: RuleBounds
}

/**
 * How each rule is computed from a change that does not remove it. Undefined means that the rule is removed. @throws
 * Problem 400
 */
type Checks = {
  [R in keyof RuleChanges]-?: (
    change: Exclude<RuleChanges[R], false | undefined>,
    context: CheckContext,
  ) => ClientRules[R] | undefined
}

const CHECKS: Checks = {
  signedUrls: () => true,
  presetsOnly: () => true,
  allowedWidths: checkedWidths,
  variantLimit: (count) => checkedInteger(count, { param: 'variantLimit', max: VARIANTS_MAX }),
  derivativesMaxBytes: (bytes) =>
    checkedInteger(bytes, { param: 'derivativesMaxBytes', max: DERIVATIVES_MAX_BYTES, unit: ' bytes' }),
  fetchHosts: (hosts) => checkedHosts('fetchHosts', hosts),
  fetchDenyHosts: (hosts) => (hosts.length > 0 ? checkedHosts('fetchDenyHosts', hosts) : undefined),
  keepDeletedSeconds: (seconds) =>
    checkedInteger(seconds, { param: 'keepDeletedSeconds', max: KEEP_DELETED_MAX_SECONDS, unit: ' seconds' }),
  dedupe: (how) => how,
  uploadMaxBytes: (bytes, { bounds: { uploadMaxBytes: max } }) =>
    checkedInteger(bytes, { param: 'uploadMaxBytes', max, unit: ' bytes, which is UPLOAD_MAX_BYTES,' }),
  rates: (changes, { present }) => changedRates(present.rates ?? {}, changes),
  presets: (presets, { bounds }) => checkedPresets(presets, bounds),
}

/** @param options.unit the text after the bounds in the error message @throws Problem 400 */
function checkedInteger(
  received: number,
  { param, max, unit = '' }: { param: string; max: number; unit?: string },
): number {
  if (isInteger(received, { min: 1, max })) return received
  throw badParameter({ param, expected: `an integer from 1 to ${max}${unit}`, received })
}

function checkedWidths(received: readonly number[]): readonly number[] {
  const widths = [...new Set(received)].sort((a, b) => a - b)
  const fits = widths.every((width) => isInteger(width, { min: 1, max: WIDTH_MAX }))
  if (fits && widths.length > 0 && widths.length <= WIDTHS_MAX) return widths
  const expected = `1 to ${WIDTHS_MAX} integers from 1 to ${WIDTH_MAX} px`
  throw badParameter({ param: 'allowedWidths', expected, received })
}

function checkedHosts<T extends readonly string[] | 'any'>(param: string, received: T): T {
  if (received === 'any' || (received.length <= HOSTS_MAX && [...received].every(isHost))) return received
  const expected = `at most ${HOSTS_MAX} hosts like example.com or *.example.com`
  throw badParameter({ param, expected, received })
}

function isHost(text: string): boolean {
  try {
    namesHost([text], '')
    return true
  } catch {
    return false
  }
}

function changedRates(
  present: NonNullable<ClientRules['rates']>,
  changes: Readonly<Record<string, number | false>>,
): ClientRules['rates'] {
  const rates = new Map(Object.entries(present))
  for (const [name, points] of Object.entries(changes)) {
    if (!isClientLimit(name))
      throw badParameter({
        param: 'rates',
        expected: `names among ${CLIENT_LIMIT_NAMES.join(', ')}`,
        received: name,
      })
    const max = name === 'cpu' ? CPU_MS_MAX : POINTS_MAX
    if (points === false) rates.delete(name)
    else if (isInteger(points, { min: 0, max })) rates.set(name, points)
    else {
      const expected = `an integer from 0, which is no limit, to ${max}`
      throw badParameter({ param: `rates.${name}`, expected, received: points })
    }
  }
  return rates.size > 0 ? Object.fromEntries(rates) : undefined
}

function isClientLimit(name: string): name is ClientLimitName {
  return (CLIENT_LIMIT_NAMES as readonly string[]).includes(name)
}

function checkedPresets(received: PresetSettings, { wrongPresets }: RuleBounds): PresetSettings | undefined {
  const presets = Object.entries(received)
  if (presets.length > PRESETS_MAX) throw badPresets([`expected at most ${PRESETS_MAX} presets`])
  const odd = presets.flatMap(([name, parameters]) => {
    const shown = truncate(name)
    if (!PRESET_NAME.test(name))
      return `${shown}: expected a name of 1 to 64 letters, digits, ".", "_" and "-", the first of them a letter or digit`
    const values = Object.values(parameters)
    if (values.length > PRESET_PARAMETERS_MAX)
      return `${shown}: expected at most ${PRESET_PARAMETERS_MAX} parameters`
    return values.some((value) => String(value).length > PRESET_VALUE_MAX_LENGTH)
      ? `${shown}: expected values of at most ${PRESET_VALUE_MAX_LENGTH} characters`
      : []
  })
  const wrong = odd.length > 0 ? odd : wrongPresets(received)
  if (wrong.length > 0) throw badPresets(wrong)
  return presets.length > 0 ? received : undefined
}

// The message lists at most this many errors. The others are listed once these are fixed.
const REASONS_MAX = 20

/** 400: the text lists the errors. */
function badPresets(reasons: readonly string[]): Problem {
  return new Problem({
    status: 400,
    code: 'bad_presets',
    detail: reasons.slice(0, REASONS_MAX).join('; '),
    members: { param: 'presets' },
  })
}

function isInteger(value: number, { min, max }: { min: number; max: number }): boolean {
  return Number.isInteger(value) && value >= min && value <= max
}
