import { CACHE_MAX_SECONDS, isCacheField } from '../../core/caching/cache-settings.ts'
import type { PresetSettings } from '../../core/clients/rules/rule.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import type { ParameterValue } from '../../core/plugin-api/parameter.ts'
import { isIgnoredParam, RESERVED_WORDS } from '../../core/plugin-api/query-names.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import type { LoadedPlugin } from '../load/load.ts'
import type { Known } from './known-parameters.ts'
import { knownIn, knownTo, type Presets, readValue } from './query.ts'

/** Presets that do not fit the plugins. The message lists every error, one per line. */
export class PresetError extends Error {
  constructor(lines: readonly string[]) {
    super(lines.map((line) => `config/presets.json: ${line}`).join('\n'))
    this.name = 'PresetError'
  }
}

/**
 * The same as {@link readPresets}, for `config/presets.json`. @throws PresetError when a preset is valid for no group
 */
export function checkPresets(settings: PresetSettings, transforms: readonly LoadedPlugin[]): Presets {
  const { presets, wrong } = readPresets(settings, transforms)
  if (wrong.length > 0) throw new PresetError(wrong)
  return presets
}

/** A function that returns the errors in presets, one per line. Each preset must be valid for `group`, by default for any. */
export function presetChecker(
  transforms: readonly LoadedPlugin[],
): (settings: PresetSettings, group?: MediaGroup) => readonly string[] {
  return (settings, group) => readPresets(settings, transforms, group && [group]).wrong
}

/**
 * Reads the presets by media group. A preset belongs to each group whose plugins accept all of its parameters with
 * these values.
 *
 * @returns `wrong`: the reasons why a preset is valid for no group, one per line
 */
export function readPresets(
  settings: PresetSettings,
  transforms: readonly LoadedPlugin[],
  only: readonly MediaGroup[] = MEDIA_GROUPS,
): { presets: Presets; wrong: readonly string[] } {
  const groups = only.map((group) => knownTo(transforms, group))
  const presets = new Map(MEDIA_GROUPS.map((group) => [group, new Map<string, Values>()]))
  const all: string[] = []
  for (const [name, parameters] of Object.entries(settings)) {
    const query = Object.entries(parameters).map(([word, value]) => [word, textOf(value)] as const)
    const readings = groups.map((known) => readPreset(query, known))
    for (const { group, values, wrong } of readings)
      if (wrong.length === 0) presets.get(group)?.set(name, values)
    // Report the errors of the group with the fewest errors; of equal ones the first, which is image.
    const [closest] = readings.sort((one, other) => one.wrong.length - other.wrong.length)
    for (const reason of closest?.wrong ?? []) all.push(`${name}: ${reason}`)
  }
  return { presets, wrong: all }
}

type Values = ReadonlyMap<string, ParameterValue>

interface Reading {
  group: MediaGroup
  values: Values
  /** Each parameter that does not fit. */
  wrong: readonly string[]
}

function readPreset(query: ReadonlyArray<readonly [string, string]>, ofGroup: Known): Reading {
  const known = knownOrNone(query, ofGroup)
  const values = new Map<string, ParameterValue>()
  const wrong = query.length === 0 ? ['expected at least one parameter but received an empty preset'] : []
  for (const [word, received] of query) {
    try {
      if (isCacheField(word)) {
        values.set(word, cacheSeconds(word, received))
        continue
      }
      refuseReserved(word)
      const { name, value } = readValue([word, received], known)
      if (values.has(name)) throw badParameter({ param: word, expected: 'one value', received })
      if (value !== undefined) values.set(name, value)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      wrong.push(error.message)
    }
  }
  return { group: known.group, values, wrong }
}

/** A cache setting, which is not a parameter of the transformation. @throws Problem 400 */
function cacheSeconds(param: string, received: string): number {
  const seconds = /^\d{1,9}$/.test(received) ? Number(received) : Number.NaN
  if (seconds <= CACHE_MAX_SECONDS) return seconds
  throw badParameter({ param, expected: `an integer from 0 to ${CACHE_MAX_SECONDS} (seconds)`, received })
}

/** An invalid value is not reported here, but by `readPreset` together with all others. */
function knownOrNone(query: ReadonlyArray<readonly [string, string]>, ofGroup: Known): Known {
  try {
    return knownIn(query, ofGroup)
  } catch (error) {
    if (error instanceof Problem) return ofGroup
    throw error
  }
}

/** @throws Problem for a word that has a meaning in requests or is ignored, but is not a transformation */
function refuseReserved(word: string): void {
  if (RESERVED_WORDS.includes(word) || isIgnoredParam(word, []))
    throw badParameter({ param: word, expected: 'a parameter of a plugin', received: word })
}

/** Returns a value as a URL would contain it. */
function textOf(value: string | number | boolean): string {
  return typeof value === 'boolean' ? String(Number(value)) : String(value)
}
