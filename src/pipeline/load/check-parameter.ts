import { z } from 'zod'
import { formatNamed } from '../../core/media/formats.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import { type ParameterSpec, parseParameter } from '../../core/plugin-api/parameter.ts'
import type { TransformPlugin } from '../../core/plugin-api/plugin.ts'
import { isIgnoredParam, PRESET_WORD, RESERVED_WORDS } from '../../core/plugin-api/query-names.ts'
import { checkRecord, MEMBER } from './check-record.ts'
import { ChainError, PluginError } from './plugin-error.ts'

/** Checks the specification of one parameter of a plugin. @throws PluginError naming the file and what was expected */
export function checkParameter(file: string, name: string, spec: unknown): void {
  const where = () => ` for the parameter ${name}`
  checkRecord(file, { name, spec }, { schema: NAMED, what: '', where })
  const { type } = spec as ParameterSpec
  checkRecord(file, spec, { schema: SCHEMAS[type], what: `the parameter ${name}, of type ${type},`, where })
}

const WORD = z.string().regex(/^[a-z][a-z0-9_]*$/)
const words = (form: RegExp) => z.array(z.string().regex(form)).nonempty()
const ALL = {
  type: MEMBER.unchecked,
  aliases: z.array(WORD).optional().describe('aliases of a-z, 0-9 and "_"'),
  help: z.string().nonempty().describe('one line of help'),
}
const DEFAULT = { default: MEMBER.unchecked.describe('a default that it accepts') }
const BARE = { bare: MEMBER.unchecked.describe('a bare value that it accepts') }
const BOUND = z.number().describe('min and max, in this order,')
const BOUNDS = { min: BOUND, max: BOUND, unit: MEMBER.unchecked }
const LIST_BOUND = z.array(z.number()).describe('min and max, in this order, of each of its names')
const LIST = {
  of: z.enum(['integer', 'number']).describe('of to be integer or number'),
  names: words(/^[a-z]+$/).describe('names of a-z'),
  separator: z.enum([',', ':']).describe('a separator of "," or ":"'),
  min: LIST_BOUND,
  max: LIST_BOUND,
  unit: MEMBER.unchecked,
  atLeast: MEMBER.unchecked,
  groups: z.int().min(2).optional().describe('groups to be an integer from 2'),
}
const VALUES = words(/^[a-z0-9.:-]+$/).describe('values of a-z, 0-9, ".", ":" and "-"')

const SCHEMAS = {
  integer: parameter({ ...BOUNDS, ...DEFAULT }),
  number: parameter({ ...BOUNDS, ...DEFAULT, ...BARE }),
  enum: parameter({ values: VALUES, synonyms: MEMBER.unchecked, ...DEFAULT }),
  flag: parameter({}),
  text: parameter({
    maxLength: z.int().min(1).describe('an integer maxLength from 1'),
    lines: z.literal(true).optional().describe('lines to be true or absent'),
    ...DEFAULT,
  }),
  key: parameter({ group: z.enum(MEDIA_GROUPS).describe('a media group as its group') }),
  list: parameter(LIST),
  color: parameter(DEFAULT),
} satisfies Record<ParameterSpec['type'], z.ZodObject>

const TYPES = Object.keys(SCHEMAS)
const NAMED = z.object({
  name: WORD.describe('a name of a-z, 0-9 and "_"'),
  spec: z.looseObject({ type: z.enum(TYPES, `a type of ${TYPES.join(', ')}`) }, 'an object'),
})

function parameter(members: z.ZodRawShape): z.ZodObject {
  return z.strictObject({ ...ALL, ...members }).superRefine((checked, { addIssue }) => {
    const spec = checked as ParameterSpec & { bare?: unknown; default?: unknown }
    const code = 'custom' as const
    const expect = (fits: boolean, member: string, message = '') =>
      fits || addIssue({ code, path: [member], message })
    if (spec.type === 'list') {
      const { min, max, names, atLeast = names.length } = spec
      const areComplete = [min, max].every(({ length }) => length === names.length)
      expect(areComplete && min.every((least, i) => least <= Number(max[i])), 'min')
      const isCount = Number.isInteger(atLeast) && atLeast >= 1 && atLeast <= names.length
      expect(isCount, 'atLeast', `atLeast from 1 to ${names.length}`)
    } else if ('min' in spec) expect(spec.min <= spec.max, 'min')
    for (const member of ['bare', 'default'] as const) expect(isAccepted(spec, spec[member]), member)
  })
}

function isAccepted(spec: ParameterSpec, value: unknown): boolean {
  try {
    return value === undefined || parseParameter('', spec, String(value)) === value
  } catch {
    return false
  }
}

/**
 * Checks the parameter names and aliases of all plugins together.
 * @throws PluginError when a name is reserved, or when two plugins use it for one media group
 * @throws ChainError when the operator's `ignoredParams` has a parameter of a plugin
 */
export function checkParameters(
  transforms: ReadonlyArray<{ plugin: TransformPlugin; media: readonly MediaGroup[]; file: string }>,
  ignored: readonly string[],
): void {
  if (ignored.includes(PRESET_WORD))
    throw new ChainError(
      'ignoredParams',
      `${PRESET_WORD} cannot be ignored: it selects a preset of config/presets.json`,
    )
  const claimed = new Map<string, { by: string; isMade: boolean }>()
  for (const { plugin, media, file } of transforms) {
    for (const [name, spec] of Object.entries(plugin.params)) {
      for (const word of [name, ...(spec.aliases ?? [])]) {
        if (ignored.includes(word)) {
          throw new ChainError('ignoredParams', `${word} is a parameter of ${plugin.name}`)
        }
        if (RESERVED_WORDS.includes(word) || isIgnoredParam(word, [])) {
          throw new PluginError(file, `the parameter ${word} is reserved: choose another name`)
        }
        for (const group of groupsOf(plugin, media)) {
          // A query has one maker, so two makers for one group never meet in it.
          const isMade = !media.includes(group)
          const earlier = claimed.get(`${group} ${word}`)
          if (earlier && !(isMade && earlier.isMade))
            throw new PluginError(file, `the parameter ${word} is taken by ${earlier.by} for ${group} files`)
          claimed.set(`${group} ${word}`, { by: plugin.name, isMade })
        }
      }
    }
  }
}

/** The media groups whose queries accept the plugin's parameters: its inputs, and its output. */
function groupsOf({ makes }: TransformPlugin, media: readonly MediaGroup[]): Set<MediaGroup> {
  const made = makes === undefined ? undefined : formatNamed(makes)
  return new Set([...media, ...(made ? [made.group] : [])])
}
