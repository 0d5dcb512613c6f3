import { setTimeout as pause } from 'node:timers/promises'
import type { EventName, EventStamp, Events } from '../../core/events.ts'
import type { Log } from '../../core/log.ts'
import { joinedMessages } from '../../core/log-reason.ts'
import type { EventContext, TargetResponse } from '../../core/plugin-api/event-plugin.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { Fetcher } from '../../core/ports/fetcher.ts'
import { type JobRequest, type JobRun, type Jobs, NotYet, type WorkOptions } from '../../core/ports/jobs.ts'
import { Problem } from '../../core/problem.ts'
import { currentRequest, inRequest } from '../../core/request-context.ts'
import type { LoadedEventPlugin } from '../../pipeline/load/load.ts'
import { createEventPlaces, type EventPlacesOptions } from './concurrency.ts'
import {
  type AttemptResult,
  createDeliveryHistory,
  type DeliveryHistory,
  deliveryId,
  type QueuedEvent,
} from './delivery-history.ts'
import { kindOf, receiverOf, targetDigest } from './receiver.ts'

/** Delivers events to event plugins: directly and at most once, or, for durable plugins, through the queue. */
export interface EventDelivery {
  /** Subscribes to the events of this process. */
  listen(events: EventBus): void
  /** Starts to deliver queued events to durable plugins. */
  work(): void
  /** The kinds of the jobs of durable plugins. */
  readonly kinds: readonly string[]
}

/** How durable plugins are called. The concurrency is per plugin, for all its targets together. */
export type RetryPolicy = WorkOptions & EventPlacesOptions

/**
 * The retries of a durable plugin: the first call at once, then after 1 to 2 minutes, 2 to 4, and so on, the last one after
 * 17 to 34 hours. A receiver that restarts gets the event after two minutes, and one that is down overnight misses nothing.
 */
export const RETRY_POLICY: RetryPolicy = {
  attempts: 11,
  retryMs: 2 * 60_000,
  retryMaxMs: 24 * 3_600_000,
  limitMs: 30_000,
  // Three targets that begin to hang leave eight slots for others. After that, each of them has a single slot.
  concurrency: 32,
  perTarget: 8,
  // Half the timeout of a webhook: neither a refusal nor a slow response takes this long.
  hungMs: 5000,
  waitMs: 250,
}

// 51 kB, for keys of 512 bytes that JSON escapes. Tags and metadata take up to 30 kB more, and a job has at most 128 KiB.
const DERIVATIVES_AT_ONCE = 50
const ENQUEUE_AGAIN_MS = 1000

export function createEventDelivery({
  plugins,
  jobs,
  fetcher,
  log,
  history = createDeliveryHistory({ deliveries: undefined, log }),
  policy = RETRY_POLICY,
}: {
  plugins: readonly LoadedEventPlugin[]
  jobs: Jobs
  fetcher: Fetcher
  log: Log
  /** Default: deliveries are not recorded. */
  history?: DeliveryHistory
  policy?: RetryPolicy
}): EventDelivery {
  /** Why targets get no more events, by plugin and target. */
  const stopped = new Map<string, string>()
  const places = new Map(
    plugins.map(({ plugin: { name, atOnce = policy.perTarget } }) => [
      name,
      createEventPlaces({ ...policy, perTarget: atOnce }),
    ]),
  )
  const partyOf = ({ plugin }: LoadedEventPlugin, target: string) => `${plugin.name} ${target}`

  /**
   * @param report receives the response of the target
   * @returns why the target gets no more events; undefined when the event was delivered
   */
  async function call<N extends EventName>(
    loaded: LoadedEventPlugin,
    { name, event, target, signal, stamp }: Call<N>,
    report: EventContext['report'] = async () => {},
  ): Promise<string | undefined> {
    const { plugin, options } = loaded
    const party = partyOf(loaded, target)
    let stopReason = stopped.get(party)
    if (stopReason !== undefined) return stopReason
    const stop = (reason: string) => {
      stopReason = reason
      stopped.set(party, reason)
      log.error({ plugin: plugin.name, reason }, 'events to this target are disabled until the next start')
    }
    const context = { ...stamp, target, options, fetch: fetcher.fetch, stop, report, signal, log }
    await plugin.on[name]?.(event, context)
    return stopReason
  }

  async function enqueue(loaded: LoadedEventPlugin, eventCall: Call<EventName>): Promise<void> {
    const { plugin } = loaded
    const { target, signal } = eventCall
    if (stopped.has(partyOf(loaded, target))) return
    for (const data of queuedParts(eventCall)) {
      await history.queued(data, { plugin: plugin.name, receiver: receiverOf(loaded, target) })
      await add({ kind: kindOf(plugin), id: deliveryId(data), data }, signal).catch((error) =>
        history.attempted(data, { at: Date.now(), ms: 0, status: undefined, error, retryInMs: undefined }),
      )
    }
  }

  /** Retries until the event bus aborts `signal`. Then the event is lost. @throws the last error */
  async function add(job: JobRequest, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return await jobs.enqueue(job)
      } catch (error) {
        if (await pause(ENQUEUE_AGAIN_MS, true, { signal }).catch(() => false)) continue
        log.error({ err: error, kind: job.kind, jobId: job.id }, 'an event is lost: it cannot be queued')
        throw error
      }
    }
  }

  /** Makes one attempt, and records its end. */
  async function attempt(
    loaded: LoadedEventPlugin,
    queued: QueuedEvent,
    { signal, retryInMs }: JobRun,
  ): Promise<void> {
    const { name, event, id } = queued
    let at = Date.now()
    let since = performance.now()
    let status: number | undefined
    const ended = (result: Pick<AttemptResult, 'error' | 'retryInMs' | 'isDropped'>) =>
      history.attempted(queued, { at, ms: Math.round(performance.now() - since), status, ...result })
    const target = loaded.targets.get(name)?.find((each) => targetDigest(each) === queued.target)
    if (target === undefined)
      return ended({
        error: 'the receiver is no longer configured for this event',
        retryInMs: undefined,
        isDropped: true,
      })
    const stamp = { id, occurredAt: new Date(queued.occurredAt) }
    const eventCall = { name, event: event as Events[EventName], target, signal, stamp }
    const report = async (response: TargetResponse) => {
      status = response.status
    }
    let stopReason: string | undefined
    let isSuperseded = false
    try {
      const place = places.get(loaded.plugin.name)
      if (!place) throw new Error(`no places for ${loaded.plugin.name}`)
      await place.take(partyOf(loaded, target), signal, async () => {
        isSuperseded = await history.isSuperseded(queued)
        if (isSuperseded) return
        at = Date.now()
        since = performance.now()
        stopReason = await inRequest(queued.request ?? currentRequest(), () =>
          call(loaded, eventCall, report),
        )
      })
    } catch (error) {
      const isPutBack = signal.aborted && !(signal.reason instanceof Problem)
      if (!isPutBack && !(error instanceof NotYet)) await ended({ error, retryInMs })
      throw error
    }
    if (!isSuperseded)
      await ended({ error: stopReason, retryInMs: undefined, isDropped: stopReason !== undefined })
  }

  return {
    listen(events) {
      for (const loaded of plugins) {
        for (const [name, targets] of loaded.targets) {
          for (const target of targets) {
            events.on(name, loaded.plugin.name, (event, signal, stamp) => {
              if (loaded.plugin.concerns?.(name, event) === false) return
              const details = { name, event, target, signal, stamp }
              return loaded.plugin.durable ? enqueue(loaded, details) : call(loaded, details)
            })
          }
        }
      }
    },

    kinds: plugins.filter(({ plugin }) => plugin.durable).map(({ plugin }) => kindOf(plugin)),

    work() {
      for (const { plugin, options } of plugins)
        Promise.resolve()
          .then(() => plugin.check?.(options, { mayFetch: fetcher.mayFetch }))
          .catch((error) =>
            log.warn({ plugin: plugin.name, reason: joinedMessages(error) }, 'events cannot be sent'),
          )
      for (const loaded of plugins.filter(({ plugin }) => plugin.durable)) {
        jobs.work<QueuedEvent>(
          kindOf(loaded.plugin),
          ({ data }, run) => attempt(loaded, data, run).catch(retried),
          { ...policy, concurrency: Math.max(policy.concurrency, loaded.plugin.atOnce ?? 0) },
        )
      }
    },
  }
}

interface Call<N extends EventName> {
  name: N
  event: Events[N]
  target: string
  signal: AbortSignal
  stamp: EventStamp
}

/** The queue treats a Problem below 500 as final. But a host without an IP address now may have one tomorrow. */
function retried(error: unknown): never {
  if (!(error instanceof Problem) || error.status >= 500) throw error
  const again = new Error(joinedMessages(error))
  // The stack does not help the operator, who would see it 11 times.
  again.stack = again.message
  throw again
}

/** Splits an event into queue entries: mostly one; several when a deleted original has many derivatives. */
function queuedParts({ name, event, target, stamp }: Call<EventName>): QueuedEvent[] {
  const request = currentRequest()
  const { derivatives = [] } = event as Partial<Events['original.deleted']>
  const count = Math.max(1, Math.ceil(derivatives.length / DERIVATIVES_AT_ONCE))
  return Array.from({ length: count }, (_, part) => {
    const from = part * DERIVATIVES_AT_ONCE
    const some = { derivatives: derivatives.slice(from, from + DERIVATIVES_AT_ONCE) }
    return {
      name,
      event: count === 1 ? event : { ...event, ...some },
      id: part === 0 ? stamp.id : `${stamp.id}-${part + 1}`,
      occurredAt: stamp.occurredAt.toISOString(),
      target: targetDigest(target),
      ...(request ? { request } : {}),
    }
  })
}
