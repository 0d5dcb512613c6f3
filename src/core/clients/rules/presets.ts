import { z } from 'zod'
import { boundedMembers } from '../../bounded-schemas.ts'
import { Problem } from '../../problem.ts'
import { truncate } from '../../text/truncate.ts'
import type { PresetSettings, Rule, RuleBounds } from './rule.ts'

const PRESETS_MAX = 100
const PRESET_PARAMETERS_MAX = 50
const PRESET_VALUE_MAX_LENGTH = 2000
// The pattern in config/presets.ts.
const PRESET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
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
    if (wrong.length > 0)
      throw new Problem({
        status: 400,
        code: 'bad_presets',
        detail: wrong.slice(0, REASONS_MAX).join('; '),
        members: { param: 'presets' },
      })
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

function presetErrors(received: PresetSettings, { wrongPresets }: RuleBounds): readonly string[] {
  const presets = Object.entries(received)
  if (presets.length > PRESETS_MAX) return [`expected at most ${PRESETS_MAX} presets`]
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
