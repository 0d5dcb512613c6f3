import { z } from 'zod'
import { EVENT_NAMES, type EventName, TEST_EVENT } from '../../core/events.ts'
import type { EventPlugin } from '../../core/plugin-api/event-plugin.ts'
import { checkRecord, MEMBER } from './check-record.ts'
import { PluginError, withPluginErrors } from './plugin-error.ts'

/**
 * Checks that the export of a module is an event plugin.
 * @throws PluginError naming the file and what was expected
 */
export function checkEventPlugin(file: string, candidate: object): EventPlugin {
  const where = (member: string) => (member === 'on' ? '' : ` for ${member}`)
  checkRecord(file, candidate, { schema: EVENT_PLUGIN, what: 'a plugin with "on"', where })
  return candidate as EventPlugin
}

/** The targets of a plugin for each event of its `on`. @throws PluginError for options that the plugin refuses */
export function checkTargets(
  file: string,
  plugin: EventPlugin,
  options: Readonly<Record<string, unknown>>,
): ReadonlyMap<EventName, readonly string[]> {
  const names = Object.keys(plugin.on) as EventName[]
  const targets = withPluginErrors(file, () =>
    names.map((name) => [name, plugin.targets?.(name, options) ?? ['']] as const),
  )
  if (targets.every(([, list]) => Array.isArray(list) && list.every((each) => typeof each === 'string')))
    return new Map(targets)
  throw new PluginError(file, 'expected targets to return an array of strings')
}

const EVENTS: readonly string[] = EVENT_NAMES
const EVENT_PLUGIN = z.strictObject({
  name: MEMBER.unchecked,
  api: MEMBER.api,
  durable: MEMBER.flag,
  atOnce: MEMBER.atOnce,
  options: MEMBER.options,
  targets: MEMBER.optionalFunction,
  concerns: MEMBER.optionalFunction,
  check: MEMBER.optionalFunction,
  on: z.looseObject({}, 'on to be an object of handlers').superRefine((handlers, { addIssue }) => {
    for (const [event, handler] of Object.entries(handlers)) {
      if (event !== TEST_EVENT && !EVENTS.includes(event))
        addIssue(`on to name events of ${EVENTS.join(', ')} but it names "${event}"`)
      if (typeof handler !== 'function') addIssue(`a function for on["${event}"]`)
    }
  }),
} satisfies Record<keyof EventPlugin, z.ZodType>)
