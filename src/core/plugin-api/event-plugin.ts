import type { Readable } from 'node:stream'
import type { EventName, EventStamp, Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { Fetcher } from '../ports/fetcher.ts'

/** A plugin that is notified of events, after they are durable. */
export interface EventPlugin {
  /** Unique among all plugins. */
  name: string
  /** The version of the plugin API that the plugin needs, as in `TransformPlugin`. */
  api?: number
  /**
   * `true`: events go through the job queue. A handler that fails is retried at growing intervals for about a day,
   * also after a restart: at least once. Otherwise it is called in the process that emitted the event, at most once.
   */
  durable?: boolean
  /** For a durable plugin: how many events one process handles at once, per target. Default: 8. For handlers that send several events in one request. */
  atOnce?: number
  /** Settings with their defaults; `config/chain.json` may override them. */
  options?: Readonly<Record<string, unknown>>
  /**
   * Returns the targets of an event, for example URLs. The handler is called once for each target, and never when the
   * list is empty. Called at the start for every event of `on`. An error about the options stops the start. Without
   * this function the handler is called once per event.
   */
  targets?(name: EventName, options: Readonly<Record<string, unknown>>): readonly string[]
  /** Whether the plugin has to be called for this event. Without this function it is called for all. For a durable plugin: before the event is queued. */
  concerns?<N extends EventName>(name: N, event: Events[N]): boolean
  /**
   * Checks at the start whether the targets can be notified. An error is logged as a warning, and the start
   * continues.
   */
  check?(options: Readonly<Record<string, unknown>>, context: Pick<Fetcher, 'mayFetch'>): Promise<void>
  /**
   * Handlers by event. Their failures are logged and do not affect any request. A plugin with a handler for
   * `webhook.test` can be tested with `sluice webhook test`.
   */
  on: { [N in EventName]?: (event: Events[N], context: EventContext) => unknown }
}

export interface EventContext extends EventStamp {
  /** One of the plugin's `targets`; empty when it has none. */
  target: string
  /** The plugin's settings: its defaults, overridden by `config/chain.json`. */
  options: Readonly<Record<string, unknown>>
  /** Connects to public addresses only, unless `access` allows others. */
  fetch: Fetcher['fetch']
  /**
   * Stops all further events for this target until the process restarts. For targets that do not want events any
   * more.
   */
  stop(reason: string): void
  /** Notes the response of the target for the operator. Await it before the body is destroyed. */
  report(response: TargetResponse): Promise<void>
  /** Aborts when the handler's time limit is reached. */
  signal: AbortSignal
  log: Log
}

/** The response of a target to one request. */
export interface TargetResponse {
  /** HTTP status. */
  status: number
  /** Only a test of the receiver reads its beginning. The handler destroys it. */
  body?: Readable
}

/** Adds types to an event plugin. */
export function defineEventPlugin(plugin: EventPlugin): EventPlugin {
  return plugin
}
