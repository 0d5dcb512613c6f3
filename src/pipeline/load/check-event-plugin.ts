import { EVENT_NAMES, type EventName } from '../../core/events.ts'
import type { EventPlugin } from '../../core/plugin-api/event-plugin.ts'
import { checkMembers, isRecord } from './check-record.ts'
import { PluginError, withPluginErrors } from './plugin-error.ts'

/**
 * Checks that the export of a module is an event plugin.
 * @throws PluginError naming the file and what was expected
 */
export function checkEventPlugin(file: string, candidate: object): EventPlugin {
  for (const other of ['transform', 'detect']) {
    if (other in candidate) {
      throw new PluginError(file, `expected ${other} or on but it has both: split it into two plugins`)
    }
  }
  checkMembers(file, candidate, EVENT_MEMBERS, 'a plugin with "on"')
  const { on, durable, options, targets, check } = candidate as Partial<Record<keyof EventPlugin, unknown>>
  const expect = (fits: boolean, expectation: string) => {
    if (!fits) throw new PluginError(file, `expected ${expectation}`)
  }
  expect(durable === undefined || typeof durable === 'boolean', 'true or false for durable')
  expect(options === undefined || isRecord(options), 'an object for options')
  expect(check === undefined || typeof check === 'function', 'a function for check')
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

const EVENT_MEMBERS = Object.keys({
  name: true,
  durable: true,
  options: true,
  targets: true,
  check: true,
  on: true,
} satisfies Record<keyof EventPlugin, true>)
