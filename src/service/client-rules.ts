import type { ClientRules, PresetSettings } from '../core/client.ts'
import { clipped } from '../core/clipped.ts'
import { namesHost } from '../core/host-list.ts'
import { CLIENT_LIMIT_NAMES, type ClientLimitName } from '../core/ports/rate-limiter.ts'
import { badParameter, Problem } from '../core/problem.ts'

/** What an operator says of a client's rules: one that is absent stays as it is, `false` ends it. */
export interface RuleChanges {
  signedUrls?: boolean | undefined
  presetsOnly?: boolean | undefined
  /** In any order. */
  allowedWidths?: readonly number[] | false | undefined
  variantLimit?: number | false | undefined
  /** None of an empty list; `false`: as for everyone. */
  fetchHosts?: readonly string[] | 'any' | false | undefined
  fetchDenyHosts?: readonly string[] | false | undefined
  keepDeletedSeconds?: number | false | undefined
  dedupe?: 'reuse' | false | undefined
  uploadMaxBytes?: number | false | undefined
  /** Each by itself: those that are not named stay; `false` ends all of them. */
  rates?: Readonly<Record<string, number | false>> | false | undefined
  /** All of them, in the place of those before. */
  presets?: PresetSettings | false | undefined
}

/** What rules are checked against. */
export interface RuleBounds {
  /** What everyone may upload at most. */
  uploadMaxBytes: number
  /** What is wrong with presets, a line each. */
  wrongPresets(settings: PresetSettings): readonly string[]
}

// As `w` takes.
const WIDTH_MAX = 5000
// One is looked for in them at each request.
const WIDTHS_MAX = 100
// As VARIANT_LIMIT takes.
const VARIANTS_MAX = 1_000_000
// Each is looked at for every hop of a fetch.
const HOSTS_MAX = 100
// 90 days.
const KEEP_DELETED_MAX_SECONDS = 7_776_000
// As the variables of limits take.
const POINTS_MAX = 1_000_000
const PRESETS_MAX = 100
const PRESET_PARAMETERS_MAX = 50
const PRESET_VALUE_MAX_LENGTH = 2000
// As config/presets.ts has it.
const PRESET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** The rules after a change; undefined when none is left. @throws Problem 400 */
export function changedRules(
  present: ClientRules,
  changes: RuleChanges,
  bounds: RuleBounds,
): ClientRules | undefined {
  const signed = changes.signedUrls === undefined ? present.signedUrls : changes.signedUrls
  const only = changes.presetsOnly === undefined ? present.presetsOnly : changes.presetsOnly
  const widths = unlessAbsent(changes.allowedWidths, checkedWidths) ?? present.allowedWidths
  const limit =
    unlessAbsent(changes.variantLimit, atMost('variantLimit', VARIANTS_MAX)) ?? present.variantLimit
  const hosts =
    unlessAbsent(changes.fetchHosts, (some) => checkedHosts('fetchHosts', some)) ?? present.fetchHosts
  const denied =
    unlessAbsent(changes.fetchDenyHosts, (some) => checkedHosts('fetchDenyHosts', some)) ??
    present.fetchDenyHosts
  const keep =
    unlessAbsent(
      changes.keepDeletedSeconds,
      atMost('keepDeletedSeconds', KEEP_DELETED_MAX_SECONDS, ' seconds'),
    ) ?? present.keepDeletedSeconds
  const deduped = changes.dedupe ?? present.dedupe
  const bytes =
    unlessAbsent(
      changes.uploadMaxBytes,
      atMost('uploadMaxBytes', bounds.uploadMaxBytes, ' bytes, which is UPLOAD_MAX_BYTES,'),
    ) ?? present.uploadMaxBytes
  const rates =
    unlessAbsent(changes.rates, (some) => changedRates(present.rates ?? {}, some)) ?? present.rates
  const presets = unlessAbsent(changes.presets, (all) => checkedPresets(all, bounds)) ?? present.presets
  const rules: ClientRules = {
    ...(signed ? { signedUrls: true } : {}),
    ...(only ? { presetsOnly: true } : {}),
    ...(widths ? { allowedWidths: widths } : {}),
    ...(limit ? { variantLimit: limit } : {}),
    ...(hosts ? { fetchHosts: hosts } : {}),
    ...(denied && denied.length > 0 ? { fetchDenyHosts: denied } : {}),
    ...(keep ? { keepDeletedSeconds: keep } : {}),
    ...(deduped ? { dedupe: deduped } : {}),
    ...(bytes ? { uploadMaxBytes: bytes } : {}),
    ...(rates ? { rates } : {}),
    ...(presets ? { presets } : {}),
  }
  return Object.keys(rules).length > 0 ? rules : undefined
}

/** `false`, which ends a rule, stays what it is. */
function unlessAbsent<T, U>(change: T | false | undefined, checked: (value: T) => U): U | false | undefined {
  if (change === undefined) return undefined
  if (change === false) return false
  return checked(change)
}

/** Checks an integer from 1. @param what it is of, behind the bound */
function atMost(param: keyof RuleChanges, max: number, what = ''): (received: number) => number {
  return (received) => {
    if (isInteger(received, { min: 1, max })) return received
    throw badParameter({ param, expected: `an integer from 1 to ${max}${what}`, received })
  }
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
): NonNullable<ClientRules['rates']> | false {
  const rates = new Map(Object.entries(present))
  for (const [name, points] of Object.entries(changes)) {
    if (!isClientLimit(name))
      throw badParameter({
        param: 'rates',
        expected: `names among ${CLIENT_LIMIT_NAMES.join(', ')}`,
        received: name,
      })
    if (points === false) rates.delete(name)
    else if (isInteger(points, { min: 0, max: POINTS_MAX })) rates.set(name, points)
    else {
      const expected = `an integer from 0, which is no limit, to ${POINTS_MAX}`
      throw badParameter({ param: `rates.${name}`, expected, received: points })
    }
  }
  return rates.size > 0 && Object.fromEntries(rates)
}

function isClientLimit(name: string): name is ClientLimitName {
  return (CLIENT_LIMIT_NAMES as readonly string[]).includes(name)
}

function checkedPresets(received: PresetSettings, { wrongPresets }: RuleBounds): PresetSettings | false {
  const presets = Object.entries(received)
  if (presets.length > PRESETS_MAX) throw badPresets([`expected at most ${PRESETS_MAX} presets`])
  const odd = presets.flatMap(([name, parameters]) => {
    const shown = clipped(name)
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
  return presets.length > 0 && received
}

// A message is no file: those that are left out are told once these are right.
const REASONS_MAX = 20

/** 400, with all that is wrong. */
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
