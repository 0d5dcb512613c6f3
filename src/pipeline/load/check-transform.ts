import { z } from 'zod'
import { isBundleEntry } from '../../core/files/bundle.ts'
import { IMAGE_OUTPUTS, isMediaGroup } from '../../core/media/formats.ts'
import type { ParameterSpec } from '../../core/plugin-api/parameter.ts'
import { type Engine, type EngineName, PHASES, type TransformPlugin } from '../../core/plugin-api/plugin.ts'
import { checkParameter } from './check-parameter.ts'
import { checkRecord, MEMBER } from './check-record.ts'
import { PluginError, withPluginErrors } from './plugin-error.ts'

/**
 * Returns the check that the export of a module is a transform plugin for these engines. It throws a PluginError that names
 * the file and what was expected. Make it once: to build a schema takes longer than to use it.
 */
export function transformCheck(
  engines: ReadonlyMap<EngineName, Engine>,
): (file: string, candidate: object) => TransformPlugin {
  const schema = TRANSFORM_PLUGIN.extend({ engine: MEMBER.engine(engines) })
  return (file, candidate) => {
    const plugin = candidate as Record<string, unknown> & TransformPlugin
    const where = (member: string) => ` for ${member} but received ${JSON.stringify(plugin[member])}`
    checkRecord(file, candidate, { schema, what: 'a plugin', where })
    for (const [name, spec] of Object.entries(plugin.params)) checkParameter(file, name, spec)
    return plugin
  }
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

// What the engines make of files of another group: a frame, a picture or page, and the PDF of a document.
const MADE = [...IMAGE_OUTPUTS, 'pdf'] as const

const TRANSFORM_PLUGIN = z.strictObject({
  name: MEMBER.unchecked,
  api: MEMBER.api,
  engine: MEMBER.unchecked,
  phase: z.enum(PHASES).describe(`one of ${PHASES.join(', ')}`),
  media: z.array(z.string().refine(isMediaGroup)).optional().describe('an array of media groups'),
  params: z.looseObject({}).describe('an object of parameters'),
  always: MEMBER.flag,
  newPass: MEMBER.flag,
  holds: MEMBER.optionalFunction,
  needs: MEMBER.optionalFunction,
  memoryBytes: z.int().positive().optional().describe('a number of bytes'),
  transparent: MEMBER.flag,
  makes: z
    .enum(MADE)
    .optional()
    .describe(`one of ${MADE.join(', ')}`),
  entry: z.string().refine(isBundleEntry).optional().describe('the name of the first of several files'),
  keepsSize: MEMBER.flag,
  noOriginalFallback: MEMBER.flag,
  version: MEMBER.version,
  options: MEMBER.options,
  checkOptions: MEMBER.optionalFunction,
  choices: MEMBER.optionalFunction,
  opening: MEMBER.optionalFunction,
  resolve: MEMBER.optionalFunction,
  transform: MEMBER.function,
  on: MEMBER.unchecked,
  detect: MEMBER.unchecked,
} satisfies Record<keyof TransformPlugin | 'on' | 'detect', z.ZodType>)
