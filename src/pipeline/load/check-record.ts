import { z } from 'zod'
import type { Engine, EngineName } from '../../core/plugin-api/plugin.ts'
import { PLUGIN_API } from '../../core/plugin-api/version.ts'
import { didYouMean } from '../../core/text/did-you-mean.ts'
import { PluginError } from './plugin-error.ts'

/** The name of a plugin. @throws PluginError when it is missing or invalid */
export function checkName(file: string, candidate: { name?: unknown }): string {
  const { name } = candidate
  if (typeof name === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return name
  throw new PluginError(file, `expected a name of a-z, 0-9 and "-" but received ${JSON.stringify(name)}`)
}

/** Refuses a plugin for a later version of the plugin API. @throws PluginError that states what to do */
export function checkApi(file: string, candidate: { api?: unknown }): void {
  const { api } = candidate
  if (!(typeof api === 'number' && Number.isInteger(api) && api > PLUGIN_API)) return
  throw new PluginError(
    file,
    `it needs version ${api} of the plugin API, but this Sluice has version ${PLUGIN_API}. Update Sluice, or install an earlier version of the plugin`,
  )
}

/** Refuses an object with the members of two kinds of plugins. @throws PluginError */
export function checkKind(file: string, candidate: object): void {
  const kinds = ['detect', 'transform', 'on', 'scan'].filter((member) => member in candidate)
  if (kinds.length < 2) return
  const [one, other] = kinds
  throw new PluginError(file, `expected ${one} or ${other} but it has both: split it into two plugins`)
}

const FUNCTION = z.custom<unknown>((value) => typeof value === 'function')

/** Schemas of members of several kinds of plugins. */
export const MEMBER = {
  unchecked: z.unknown().optional(),
  function: FUNCTION.describe('a function'),
  optionalFunction: FUNCTION.optional().describe('a function'),
  atOnce: z.int().min(1).max(256).optional().describe('an integer from 1 to 256'),
  flag: z.boolean().optional().describe('true or false'),
  api: z.literal(PLUGIN_API).optional().describe(String(PLUGIN_API)),
  version: z.int().min(1).optional().describe('an integer from 1'),
  options: z.looseObject({}).optional().describe('an object'),
  engine: (engines: ReadonlyMap<EngineName, Engine>) =>
    z.enum([...engines.keys()]).describe(`one of ${[...engines.keys()].join(', ')}`),
}

/**
 * Checks an object by a schema. The description of each member is its expected value, for the message. Unknown members
 * are reported first: a misspelt member would otherwise be reported as a missing one.
 *
 * @param options.what begins the message about an unknown member
 * @param options.where ends the message about an invalid value
 * @throws PluginError with the first error
 */
export function checkRecord(
  file: string,
  candidate: unknown,
  {
    schema,
    what,
    where = (member) => ` for ${member}`,
  }: { schema: z.ZodObject; what: string; where?: (member: string) => string },
): void {
  const issues = schema.safeParse(candidate).error?.issues ?? []
  const known = Object.keys(schema.shape)
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue
    const [member = ''] = issue.keys
    const hint = didYouMean(member, known) || `; there are ${known.join(', ')}`
    throw new PluginError(file, `${what} has no member ${member}${hint}`)
  }
  for (const { path, message } of issues) {
    const member = String(path[0])
    throw new PluginError(file, `expected ${schema.shape[member]?.description ?? message}${where(member)}`)
  }
}
