import type { PresetSettings } from '../../core/clients/client.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import type { ParameterValue } from '../../core/plugin-api/parameter.ts'
import { isIgnoredParam, RESERVED_WORDS } from '../../core/plugin-api/query-names.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import type { LoadedPlugin } from '../load/load.ts'
import { type Known, knownIn, knownTo, type Presets, readValue } from './query.ts'

/** Presets that do not fit the plugins: all of them, a line for each thing that is wrong. */
export class PresetError extends Error {
  constructor(lines: readonly string[]) {
    super(lines.map((line) => `config/presets.json: ${line}`).join('\n'))
    this.name = 'PresetError'
  }
}

/** As {@link readPresets}, of `config/presets.json`. @throws PresetError when one is for no group */
export function checkPresets(settings: PresetSettings, transforms: readonly LoadedPlugin[]): Presets {
  const { presets, wrong } = readPresets(settings, transforms)
  if (wrong.length > 0) throw new PresetError(wrong)
  return presets
}

/**
 * The presets by media group: one is for each group whose plugins take all of its parameters with these values.
 *
 * @returns `wrong`: why one is for no group, a line for each reason
 */
export function readPresets(
  settings: PresetSettings,
  transforms: readonly LoadedPlugin[],
): { presets: Presets; wrong: readonly string[] } {
  const groups = MEDIA_GROUPS.map((group) => knownTo(transforms, group))
  const presets = new Map(MEDIA_GROUPS.map((group) => [group, new Map<string, Values>()]))
  const all: string[] = []
  for (const [name, parameters] of Object.entries(settings)) {
    const query = Object.entries(parameters).map(([word, value]) => [word, textOf(value)] as const)
    const readings = groups.map((known) => readPreset(query, known))
    for (const { group, values, wrong } of readings)
      if (wrong.length === 0) presets.get(group)?.set(name, values)
    // What is said is what the group misses that comes closest: of equal ones the first, which is image.
    const [closest] = readings.sort((one, other) => one.wrong.length - other.wrong.length)
    for (const reason of closest?.wrong ?? []) all.push(`${name}: ${reason}`)
  }
  return { presets, wrong: all }
}

type Values = ReadonlyMap<string, ParameterValue>

interface Reading {
  group: MediaGroup
  values: Values
  /** Each thing that does not fit. */
  wrong: readonly string[]
}

function readPreset(query: ReadonlyArray<readonly [string, string]>, ofGroup: Known): Reading {
  const known = knownOrNone(query, ofGroup)
  const values = new Map<string, ParameterValue>()
  const wrong = query.length === 0 ? ['expected at least one parameter but received an empty preset'] : []
  for (const [word, received] of query) {
    try {
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

/** A value that does not fit is told with all others that do not. */
function knownOrNone(query: ReadonlyArray<readonly [string, string]>, ofGroup: Known): Known {
  try {
    return knownIn(query, ofGroup)
  } catch (error) {
    if (error instanceof Problem) return ofGroup
    throw error
  }
}

/** @throws Problem for a word that means something to a request, or nothing, but is no transformation */
function refuseReserved(word: string): void {
  if (RESERVED_WORDS.includes(word) || isIgnoredParam(word, []))
    throw badParameter({ param: word, expected: 'a parameter of a plugin', received: word })
}

/** As it would stand in a URL. */
function textOf(value: string | number | boolean): string {
  return typeof value === 'boolean' ? String(Number(value)) : String(value)
}
