import type { EventName, EventStamp, Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { Fetcher } from '../ports/fetcher.ts'

/** A plugin that is told what happened, after it is durable. */
export interface EventPlugin {
  /** Unique among all plugins. */
  name: string
  /**
   * `true`: events go through the job queue. A handler that fails is called again, later and later, for about a day,
   * and after a restart as well: at least once. Else it is called in the process that emitted, at most once.
   */
  durable?: boolean
  /** Settings with their defaults; `config/chain.json` may give others. */
  options?: Readonly<Record<string, unknown>>
  /**
   * Whom the plugin tells of an event, URLs for example: the handler is called for each by itself, and for none when
   * there is none. Asked at the start for every event of `on`; what it throws about the options stops the start. Without
   * it, the handler is called once.
   */
  targets?(name: EventName, options: Readonly<Record<string, unknown>>): readonly string[]
  /**
   * Checks at the start whether the targets can be notified. What it throws is logged as a warning, and the start continues.
   */
  check?(options: Readonly<Record<string, unknown>>, context: Pick<Fetcher, 'mayFetch'>): Promise<void>
  /** Handlers by event. Their failures are logged and touch no request. */
  on: { [N in EventName]?: (event: Events[N], context: EventContext) => unknown }
}

export interface EventContext extends EventStamp {
  /** One of the plugin's `targets`; empty when it has none. */
  target: string
  /** The plugin's settings: its own defaults under those of `config/chain.json`. */
  options: Readonly<Record<string, unknown>>
  /** Public addresses only, unless `access` names others. */
  fetch: Fetcher['fetch']
  /** No more events for this target until the process starts again: it wants none. */
  stop(reason: string): void
  /** Aborted when the handler's time is over. */
  signal: AbortSignal
  log: Log
}

/** Types an event plugin. */
export function defineEventPlugin(plugin: EventPlugin): EventPlugin {
  return plugin
}
