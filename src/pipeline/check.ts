import { EVENT_NAMES, type EventName } from '../core/events.ts'
import { isMediaGroup, type MediaGroup } from '../core/media.ts'
import { didYouMean } from '../core/nearest.ts'
import { type ParameterSpec, parseParameter } from '../core/parameter.ts'
import {
  type DetectorPlugin,
  type Engine,
  type EngineName,
  type EventPlugin,
  PHASES,
  type TransformPlugin,
} from '../core/plugin.ts'
import { DOWNLOAD_WORD, isPassedOver, PRESET_WORD } from '../core/query-word.ts'

/** A plugin that cannot be used. The message names its file. */
export class PluginError extends Error {
  constructor(file: string, reason: string, cause?: unknown) {
    super(`plugin ${file}: ${reason}`, { cause })
    this.name = 'PluginError'
  }
}

/** Something in `config/chain.json` that does not fit the plugins. The message names its key. */
export class ChainError extends Error {
  constructor(key: string, reason: string) {
    super(`config/chain.json: ${key}: ${reason}`)
    this.name = 'ChainError'
  }
}

/** The name that every plugin has. */
export function checkName(file: string, candidate: { name?: unknown }): string {
  const { name } = candidate
  if (typeof name === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return name
  throw new PluginError(file, `expected a name of a-z, 0-9 and "-" but received ${JSON.stringify(name)}`)
}

const EVENT_MEMBERS = Object.keys({
  name: true,
  durable: true,
  options: true,
  targets: true,
  on: true,
} satisfies Record<keyof EventPlugin, true>)

/**
 * What a module exports, as a plugin that is told of events.
 * @throws PluginError naming the file and what was expected
 */
export function checkEventPlugin(file: string, candidate: object): EventPlugin {
  for (const other of ['transform', 'detect']) {
    if (other in candidate) {
      throw new PluginError(file, `expected ${other} or on but it has both: make two plugins of it`)
    }
  }
  checkMembers(file, candidate, EVENT_MEMBERS, 'a plugin with "on"')
  const { on, durable, options, targets } = candidate as Partial<Record<keyof EventPlugin, unknown>>
  const expect = (fits: boolean, expectation: string) => {
    if (!fits) throw new PluginError(file, `expected ${expectation}`)
  }
  expect(durable === undefined || typeof durable === 'boolean', 'true or false for durable')
  expect(options === undefined || isRecord(options), 'an object for options')
  expect(targets === undefined || typeof targets === 'function', 'a function for targets')
  expect(isRecord(on), 'on to be an object of handlers')
  for (const [event, handler] of Object.entries(on as object)) {
    if (!(EVENT_NAMES as readonly string[]).includes(event)) {
      throw new PluginError(
        file,
        `expected on to name events of ${EVENT_NAMES.join(', ')} but it names "${event}"`,
      )
    }
    if (typeof handler !== 'function') throw new PluginError(file, `expected a function for on["${event}"]`)
  }
  return candidate as EventPlugin
}

/** Whom a plugin tells of each event of its `on`. @throws PluginError for options that the plugin refuses */
export function checkTargets(
  file: string,
  plugin: EventPlugin,
  options: Readonly<Record<string, unknown>>,
): ReadonlyMap<EventName, readonly string[]> {
  try {
    const names = Object.keys(plugin.on) as EventName[]
    const targets = names.map((name) => [name, plugin.targets?.(name, options) ?? ['']] as const)
    if (targets.every(([, list]) => Array.isArray(list) && list.every((each) => typeof each === 'string')))
      return new Map(targets)
  } catch (cause) {
    throw new PluginError(file, cause instanceof Error ? cause.message : String(cause), cause)
  }
  throw new PluginError(file, 'expected targets to answer with an array of strings')
}

const TRANSFORM_MEMBERS = Object.keys({
  name: true,
  engine: true,
  phase: true,
  media: true,
  params: true,
  always: true,
  newPass: true,
  holds: true,
  conceals: true,
  version: true,
  options: true,
  checkOptions: true,
  choices: true,
  opening: true,
  resolve: true,
  transform: true,
} satisfies Record<keyof TransformPlugin, true>)

/**
 * What a module exports, as a plugin that changes files.
 * @throws PluginError naming the file and what was expected
 */
export function checkTransform(
  file: string,
  candidate: object,
  engines: ReadonlyMap<EngineName, Engine>,
): TransformPlugin {
  checkMembers(file, candidate, [...TRANSFORM_MEMBERS, 'on', 'detect'], 'a plugin')
  const plugin = candidate as Partial<Record<keyof TransformPlugin, unknown>>
  const expect = (fits: boolean, expectation: string, member: keyof TransformPlugin) => {
    if (fits) return
    throw new PluginError(
      file,
      `expected ${expectation} for ${member} but received ${JSON.stringify(plugin[member])}`,
    )
  }
  const oneOf = (words: Iterable<string>, word: unknown) => [...words].includes(word as string)
  expect(oneOf(engines.keys(), plugin.engine), `one of ${[...engines.keys()].join(', ')}`, 'engine')
  expect(oneOf(PHASES, plugin.phase), `one of ${PHASES.join(', ')}`, 'phase')
  expect(typeof plugin.transform === 'function', 'a function', 'transform')
  expect(
    plugin.version === undefined || (Number.isInteger(plugin.version) && Number(plugin.version) >= 1),
    'an integer from 1',
    'version',
  )
  expect(plugin.always === undefined || typeof plugin.always === 'boolean', 'true or false', 'always')
  expect(plugin.newPass === undefined || typeof plugin.newPass === 'boolean', 'true or false', 'newPass')
  expect(plugin.holds === undefined || typeof plugin.holds === 'function', 'a function', 'holds')
  expect(plugin.conceals === undefined || typeof plugin.conceals === 'boolean', 'true or false', 'conceals')
  expect(plugin.resolve === undefined || typeof plugin.resolve === 'function', 'a function', 'resolve')
  expect(plugin.opening === undefined || typeof plugin.opening === 'function', 'a function', 'opening')
  expect(plugin.choices === undefined || typeof plugin.choices === 'function', 'a function', 'choices')
  expect(plugin.options === undefined || isRecord(plugin.options), 'an object', 'options')
  expect(
    plugin.checkOptions === undefined || typeof plugin.checkOptions === 'function',
    'a function',
    'checkOptions',
  )
  expect(
    plugin.media === undefined ||
      (Array.isArray(plugin.media) && plugin.media.every((group) => isMediaGroup(group))),
    'an array of media groups',
    'media',
  )
  expect(isRecord(plugin.params), 'an object of parameters', 'params')
  for (const [name, spec] of Object.entries(plugin.params as object)) checkParameter(file, name, spec)
  return candidate as TransformPlugin
}

/** @throws PluginError for options that the plugin refuses */
export function checkOptions(
  file: string,
  plugin: TransformPlugin,
  options: Readonly<Record<string, unknown>>,
): void {
  try {
    plugin.checkOptions?.(options)
  } catch (cause) {
    throw new PluginError(file, cause instanceof Error ? cause.message : String(cause), cause)
  }
}

/** The plugin with the values that it finds by its options. @throws PluginError when it cannot, or for no `enum` */
export function withChoices(
  file: string,
  plugin: TransformPlugin,
  options: Readonly<Record<string, unknown>>,
): TransformPlugin {
  if (!plugin.choices) return plugin
  let choices: ReturnType<typeof plugin.choices>
  try {
    choices = plugin.choices(options)
  } catch (cause) {
    throw new PluginError(file, cause instanceof Error ? cause.message : String(cause), cause)
  }
  const params: Record<string, ParameterSpec> = { ...plugin.params }
  for (const [name, more = []] of Object.entries(choices)) {
    const spec = params[name]
    if (spec?.type !== 'enum') throw new PluginError(file, `expected choices for an enum but ${name} is none`)
    params[name] = { ...spec, values: [...new Set([...spec.values, ...more])] }
  }
  return { ...plugin, params }
}

const DETECTOR_MEMBERS = Object.keys({
  name: true,
  engine: true,
  version: true,
  options: true,
  detect: true,
} satisfies Record<keyof DetectorPlugin, true>)

/**
 * What a module exports, as a plugin that sees what is in a picture.
 * @throws PluginError naming the file and what was expected
 */
export function checkDetector(
  file: string,
  candidate: object,
  engines: ReadonlyMap<EngineName, Engine>,
): DetectorPlugin {
  if ('transform' in candidate) {
    throw new PluginError(file, 'expected detect or transform but it has both: make two plugins of it')
  }
  checkMembers(file, candidate, DETECTOR_MEMBERS, 'a plugin with "detect"')
  const { engine, version, options, detect } = candidate as Partial<Record<keyof DetectorPlugin, unknown>>
  const expect = (fits: boolean, expectation: string) => {
    if (!fits) throw new PluginError(file, `expected ${expectation}`)
  }
  const names = [...engines.keys()]
  expect(names.includes(engine as EngineName), `one of ${names.join(', ')} for engine`)
  expect(typeof detect === 'function', 'a function for detect')
  expect(
    version === undefined || (Number.isInteger(version) && Number(version) >= 1),
    'an integer from 1 for version',
  )
  expect(options === undefined || isRecord(options), 'an object for options')
  return candidate as DetectorPlugin
}

/** A misspelt member would else do nothing, in silence. */
function checkMembers(file: string, candidate: object, known: readonly string[], what: string): void {
  for (const member of Object.keys(candidate)) {
    if (known.includes(member)) continue
    const hint = didYouMean(member, known) || `; there are ${known.join(', ')}`
    throw new PluginError(file, `${what} has no member ${member}${hint}`)
  }
}

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

function checkParameter(file: string, name: string, spec: unknown): void {
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

/**
 * @throws PluginError when a parameter, under any of its names, means two things for one media group, or nothing
 * @throws ChainError when the operator passes one over
 */
export function checkParameters(
  transforms: ReadonlyArray<{ plugin: TransformPlugin; media: readonly MediaGroup[]; file: string }>,
  ignored: readonly string[],
): void {
  if (ignored.includes(PRESET_WORD))
    throw new ChainError('ignoredParams', `${PRESET_WORD} stands for the parameters of config/presets.json`)
  const claimed = new Map<string, string>()
  for (const { plugin, media, file } of transforms) {
    for (const [name, spec] of Object.entries(plugin.params)) {
      for (const word of [name, ...(spec.aliases ?? [])]) {
        if (ignored.includes(word)) {
          throw new ChainError('ignoredParams', `${word} is a parameter of ${plugin.name}`)
        }
        if (word === DOWNLOAD_WORD || word === PRESET_WORD || isPassedOver(word, [])) {
          throw new PluginError(file, `the parameter ${word} never reaches a plugin: choose another name`)
        }
        for (const group of media) {
          const earlier = claimed.get(`${group} ${word}`)
          if (earlier)
            throw new PluginError(file, `the parameter ${word} is taken by ${earlier} for ${group} files`)
          claimed.set(`${group} ${word}`, plugin.name)
        }
      }
    }
  }
}

function isWord(value: unknown, form: RegExp): boolean {
  return typeof value === 'string' && form.test(value)
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
