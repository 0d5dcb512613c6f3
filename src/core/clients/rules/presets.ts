import { z } from 'zod'
import { boundedMembers } from '../../bounded-schemas.ts'
import type { MediaGroup } from '../../media/groups.ts'
import { Problem } from '../../problem.ts'
import { truncate } from '../../text/truncate.ts'
import type { PresetSettings, Rule, RuleBounds } from './rule.ts'

const PRESETS_MAX = 100
const TOO_MANY = `expected at most ${PRESETS_MAX} presets`
const PRESET_PARAMETERS_MAX = 50
const PRESET_VALUE_MAX_LENGTH = 2000
/** Names of presets: characters that need no encoding in a URL or a message. */
export const PRESET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
// The message lists at most this many errors. The others are listed once these are fixed.
const REASONS_MAX = 20

const value = z.union([z.string(), z.number(), z.boolean()])

export const presetsRule: Rule<PresetSettings, PresetSettings> = {
  flags: '--presets <file|none>',
  help: "presets of this client, as a JSON file like config/presets.json; replaces the client's previous presets",
  docs: {
    example: 'my-presets.json',
    json: '(all at once)',
    effect:
      'Presets only for the files of this client, in a file like `config/presets.json`. They take precedence over shared presets of the same name, and are allowed with `--presets-only`. A preset that fits no file type is refused, with the reasons',
  },
  stored: z.record(z.string(), z.record(z.string(), value)),
  change: () => boundedMembers(boundedMembers(value)),
  expected: 'an object of presets, each an object of parameters, or null',
  apply(received, { bounds }) {
    const wrong = presetErrors(received, bounds)
    if (wrong.length > 0) throw badPresets(wrong)
    return Object.keys(received).length > 0 ? received : undefined
  },
  parse(file, { readJson }) {
    if (file === 'none') return false
    try {
      // The server validates its structure.
      return readJson(file) as PresetSettings
    } catch (error) {
      throw new Error(`expected a JSON file or none but received "${file}": ${(error as Error).message}`)
    }
  },
  shown: (presets) => `presets ${Object.keys(presets).join(', ')}`,
}

/** The longest description of a preset, in characters. */
export const PRESET_DESCRIPTION_MAX_LENGTH = 300

/** One preset that is added to the others, or replaces the one of the same name. */
export interface OnePreset {
  name: string
  parameters: PresetSettings[string]
  /** The file type whose plugins must accept its parameters. */
  group: MediaGroup
}

/**
 * Adds one preset. The others are not validated again: they may have become invalid by a change of the plugins.
 * @throws Problem 400
 */
export function withPreset(
  others: PresetSettings,
  { name, parameters, group }: OnePreset,
  { wrongPresets }: Pick<RuleBounds, 'wrongPresets'>,
): PresetSettings {
  const presets = { ...others, [name]: parameters }
  const own = { [name]: parameters }
  const wrong = [
    ...(Object.keys(presets).length > PRESETS_MAX ? [TOO_MANY] : []),
    ...presetErrors(own, { wrongPresets: (settings) => wrongPresets(settings, group) }),
  ]
  if (wrong.length > 0) throw badPresets(wrong)
  return presets
}

function badPresets(reasons: readonly string[]): Problem {
  return new Problem({
    status: 400,
    code: 'bad_presets',
    detail: reasons.slice(0, REASONS_MAX).join('; '),
    members: { param: 'presets' },
  })
}

function presetErrors(
  received: PresetSettings,
  { wrongPresets }: Pick<RuleBounds, 'wrongPresets'>,
): readonly string[] {
  const presets = Object.entries(received)
  if (presets.length > PRESETS_MAX) return [TOO_MANY]
  const invalid = presets.flatMap(([name, parameters]) => {
    const shown = truncate(name)
    if (!PRESET_NAME.test(name))
      return `${shown}: expected a name of 1 to 64 letters, digits, ".", "_" and "-", the first of them a letter or digit`
    const values = Object.values(parameters)
    if (values.length > PRESET_PARAMETERS_MAX)
      return `${shown}: expected at most ${PRESET_PARAMETERS_MAX} parameters`
    return values.some((each) => String(each).length > PRESET_VALUE_MAX_LENGTH)
      ? `${shown}: expected values of at most ${PRESET_VALUE_MAX_LENGTH} characters`
      : []
  })
  return invalid.length > 0 ? invalid : wrongPresets(received)
}
