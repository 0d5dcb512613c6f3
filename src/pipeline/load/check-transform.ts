import { isBundleEntry } from '../../core/files/bundle.ts'
import { formatNamed, isMediaGroup } from '../../core/media/formats.ts'
import type { ParameterSpec } from '../../core/plugin-api/parameter.ts'
import { type Engine, type EngineName, PHASES, type TransformPlugin } from '../../core/plugin-api/plugin.ts'
import { checkParameter } from './check-parameter.ts'
import { checkMembers, isRecord, isVersion } from './check-record.ts'
import { PluginError, withPluginErrors } from './plugin-error.ts'

/**
 * Checks that the export of a module is a transform plugin.
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
  expect(isVersion(plugin.version), 'an integer from 1', 'version')
  for (const member of FLAGS)
    expect(['undefined', 'boolean'].includes(typeof plugin[member]), 'true or false', member)
  for (const member of FUNCTIONS)
    expect(['undefined', 'function'].includes(typeof plugin[member]), 'a function', member)
  expect(plugin.options === undefined || isRecord(plugin.options), 'an object', 'options')
  expect(
    plugin.media === undefined ||
      (Array.isArray(plugin.media) && plugin.media.every((group) => isMediaGroup(group))),
    'an array of media groups',
    'media',
  )
  expect(
    plugin.makes === undefined || formatNamed(String(plugin.makes)) !== undefined,
    'the name of a format',
    'makes',
  )
  expect(
    plugin.entry === undefined || isBundleEntry(String(plugin.entry)),
    'the name of the first of several files',
    'entry',
  )
  expect(isRecord(plugin.params), 'an object of parameters', 'params')
  for (const [name, spec] of Object.entries(plugin.params as object)) checkParameter(file, name, spec)
  return candidate as TransformPlugin
}

/** Runs the plugin's own check of its options. @throws PluginError for options that the plugin refuses */
export function checkOptions(
  file: string,
  plugin: TransformPlugin,
  options: Readonly<Record<string, unknown>>,
): void {
  withPluginErrors(file, () => plugin.checkOptions?.(options))
}

/**
 * Adds the values that the plugin's `choices` returns for its options to its parameters.
 * @throws PluginError when `choices` fails or names a parameter that is no `enum`
 */
export function withChoices(
  file: string,
  plugin: TransformPlugin,
  options: Readonly<Record<string, unknown>>,
): TransformPlugin {
  if (!plugin.choices) return plugin
  const choices = withPluginErrors(file, () => plugin.choices?.(options) ?? {})
  const params: Record<string, ParameterSpec> = { ...plugin.params }
  for (const [name, more = []] of Object.entries(choices)) {
    const spec = params[name]
    if (spec?.type !== 'enum')
      throw new PluginError(file, `expected choices for an enum but ${name} is not an enum`)
    params[name] = { ...spec, values: [...new Set([...spec.values, ...more])] }
  }
  return { ...plugin, params }
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
  makes: true,
  entry: true,
  noOriginalFallback: true,
  version: true,
  options: true,
  checkOptions: true,
  choices: true,
  opening: true,
  resolve: true,
  transform: true,
} satisfies Record<keyof TransformPlugin, true>)
const FLAGS = ['always', 'newPass', 'noOriginalFallback'] as const
const FUNCTIONS = ['holds', 'resolve', 'opening', 'choices', 'checkOptions'] as const
