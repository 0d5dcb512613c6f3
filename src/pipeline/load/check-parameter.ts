import { formatNamed, isMediaGroup } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import { type ParameterSpec, parseParameter } from '../../core/plugin-api/parameter.ts'
import type { TransformPlugin } from '../../core/plugin-api/plugin.ts'
import { isIgnoredParam, PRESET_WORD, RESERVED_WORDS } from '../../core/plugin-api/query-names.ts'
import { checkMembers, isRecord } from './check-record.ts'
import { ChainError, PluginError } from './plugin-error.ts'

const MEMBERS_OF_ALL = ['type', 'aliases', 'help']
const MEMBERS_OF_TYPE = {
  integer: ['min', 'max', 'unit', 'default'],
  number: ['min', 'max', 'unit', 'default', 'bare'],
  enum: ['values', 'synonyms', 'default'],
  flag: [],
  text: ['maxLength', 'default'],
  key: ['group'],
  list: ['of', 'names', 'separator', 'min', 'max', 'unit', 'atLeast'],
  color: ['default'],
} satisfies Record<ParameterSpec['type'], string[]>

/** Checks the specification of one parameter of a plugin. @throws PluginError naming the file and what was expected */
export function checkParameter(file: string, name: string, spec: unknown): void {
  const expect = (fits: boolean, expectation: string) => {
    if (!fits) throw new PluginError(file, `expected ${expectation} for the parameter ${name}`)
  }
  expect(/^[a-z][a-z0-9_]*$/.test(name), 'a name of a-z, 0-9 and "_"')
  expect(isRecord(spec), 'an object')
  const record = spec as Partial<ParameterSpec> & Record<string, unknown>
  const types = Object.keys(MEMBERS_OF_TYPE)
  expect(types.includes(String(record.type)), `a type of ${types.join(', ')}`)
  const members = [...MEMBERS_OF_ALL, ...MEMBERS_OF_TYPE[record.type as ParameterSpec['type']]]
  checkMembers(file, record, members, `the parameter ${name}, of type ${record.type},`)
  expect(typeof record.help === 'string' && record.help !== '', 'one line of help')
  expect(
    record.aliases === undefined ||
      (Array.isArray(record.aliases) && record.aliases.every((alias) => isWord(alias, /^[a-z][a-z0-9_]*$/))),
    'aliases of a-z, 0-9 and "_"',
  )
  switch (record.type) {
    case 'integer':
    case 'number':
      expect(
        Number.isFinite(record.min) &&
          Number.isFinite(record.max) &&
          Number(record.min) <= Number(record.max),
        'min and max, in this order,',
      )
      break
    case 'enum':
      expect(
        Array.isArray(record.values) &&
          record.values.length > 0 &&
          record.values.every((value) => isWord(value, /^[a-z0-9.:-]+$/)),
        'values of a-z, 0-9, ".", ":" and "-"',
      )
      break
    case 'text':
      expect(
        Number.isInteger(record.maxLength) && Number(record.maxLength) >= 1,
        'an integer maxLength from 1',
      )
      break
    case 'key':
      expect(isMediaGroup(String(record.group)), 'a media group as its group')
      break
    case 'list':
      checkList(record, expect)
      break
  }
  expect(
    record.type !== 'number' ||
      record.bare === undefined ||
      isAccepted(name, spec as ParameterSpec, record.bare),
    'a bare value that it accepts',
  )
  expect(
    record.default === undefined || isAccepted(name, spec as ParameterSpec, record.default),
    'a default that it accepts',
  )
}

function checkList(record: Record<string, unknown>, expect: (fits: boolean, what: string) => void): void {
  const { names, min, max, atLeast } = record
  const count = Array.isArray(names) ? names.length : 0
  expect(record.of === 'integer' || record.of === 'number', 'of to be integer or number')
  expect(record.separator === ',' || record.separator === ':', 'a separator of "," or ":"')
  expect(count > 0 && (names as unknown[]).every((name) => isWord(name, /^[a-z]+$/)), 'names of a-z')
  const isBounds = (bounds: unknown): bounds is number[] =>
    Array.isArray(bounds) && bounds.length === count && bounds.every((bound) => Number.isFinite(bound))
  expect(
    isBounds(min) && isBounds(max) && min.every((least, i) => least <= Number(max[i])),
    'min and max, in this order, of each of its names',
  )
  expect(
    atLeast === undefined || (Number.isInteger(atLeast) && Number(atLeast) >= 1 && Number(atLeast) <= count),
    `atLeast from 1 to ${count}`,
  )
}

function isAccepted(name: string, spec: ParameterSpec, value: unknown): boolean {
  try {
    return parseParameter(name, spec, String(value)) === value
  } catch {
    return false
  }
}

function isWord(value: unknown, form: RegExp): boolean {
  return typeof value === 'string' && form.test(value)
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
  const claimed = new Map<string, string>()
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
          const earlier = claimed.get(`${group} ${word}`)
          if (earlier)
            throw new PluginError(file, `the parameter ${word} is taken by ${earlier} for ${group} files`)
          claimed.set(`${group} ${word}`, plugin.name)
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
