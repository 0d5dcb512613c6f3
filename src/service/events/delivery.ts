import { setTimeout as pause } from 'node:timers/promises'
import { sha256 } from '../../core/bytes/digest.ts'
import type { EventName, EventStamp, Events } from '../../core/events.ts'
import type { Log } from '../../core/log.ts'
import { joinedMessages } from '../../core/log-reason.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { Fetcher } from '../../core/ports/fetcher.ts'
import type { JobRequest, Jobs, WorkOptions } from '../../core/ports/jobs.ts'
import { Problem } from '../../core/problem.ts'
import type { LoadedEventPlugin } from '../../pipeline/load/load.ts'
import { createEventPlaces, type EventPlacesOptions } from './concurrency.ts'

/** Delivers events to event plugins: directly and at most once, or, for durable plugins, through the queue. */
export interface EventDelivery {
  /** Subscribes to the events of this process. */
  listen(events: EventBus): void
  /** Starts to deliver queued events to durable plugins. */
  work(): void
}

/** How durable plugins are called. The concurrency is per plugin, for all its targets together. */
export type DeliveryPlan = WorkOptions & EventPlacesOptions

/**
 * The retries of a durable plugin: the first call at once, then after 1 to 2 minutes, 2 to 4, and so on, the last one after
 * 17 to 34 hours. A receiver that restarts gets the event after two minutes, and one that is down overnight misses nothing.
 */
export const RETRY_PLAN: DeliveryPlan = {
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

/** The data of a job for a durable plugin. */
interface QueuedEvent {
  name: EventName
  event: Events[EventName]
  id: string
  occurredAt: string
  /** A digest, since targets are mostly URLs, and some contain secrets. */
  target: string
}

// 51 kB, for keys of 512 bytes that JSON escapes. Tags and metadata take up to 30 kB more, and a job has at most 128 KiB.
const DERIVATIVES_AT_ONCE = 50
const ENQUEUE_AGAIN_MS = 1000

export function createEventDelivery({
  plugins,
  jobs,
  fetcher,
  log,
  plan = RETRY_PLAN,
}: {
  plugins: readonly LoadedEventPlugin[]
  jobs: Jobs
  fetcher: Fetcher
  log: Log
  plan?: DeliveryPlan
}): EventDelivery {
  /** Plugin and target of those that get no more events. */
  const stopped = new Set<string>()
  const places = createEventPlaces(plan)

  async function call<N extends EventName>(
    { plugin, options }: LoadedEventPlugin,
    { name, event, target, signal, stamp }: Call<N>,
  ): Promise<void> {
    const party = `${plugin.name} ${target}`
    if (stopped.has(party)) return
    const stop = (reason: string) => {
      stopped.add(party)
      log.error({ plugin: plugin.name, reason }, 'events to this target are disabled until the next start')
    }
    await plugin.on[name]?.(event, { ...stamp, target, options, fetch: fetcher.fetch, stop, signal, log })
  }

  async function enqueue({ plugin }: LoadedEventPlugin, eventCall: Call<EventName>): Promise<void> {
    if (stopped.has(`${plugin.name} ${eventCall.target}`)) return
    for (const data of queuedParts(eventCall))
      await add({ kind: kindOf(plugin), id: `${data.id}-${data.target}`, data }, eventCall.signal)
  }

  /** Retries until the event bus aborts `signal`. Then the event is lost. */
  async function add(job: JobRequest, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return await jobs.enqueue(job)
      } catch (error) {
        if (await pause(ENQUEUE_AGAIN_MS, true, { signal }).catch(() => false)) continue
        return log.error(
          { err: error, kind: job.kind, jobId: job.id },
          'an event is lost: it cannot be queued',
        )
      }
    }
  }

  return {
    listen(events) {
      for (const loaded of plugins) {
        for (const [name, targets] of loaded.targets) {
          for (const target of targets) {
            events.on(name, loaded.plugin.name, (event, signal, stamp) => {
              const details = { name, event, target, signal, stamp }
              return loaded.plugin.durable ? enqueue(loaded, details) : call(loaded, details)
            })
          }
        }
      }
    },

    work() {
      for (const { plugin, options } of plugins)
        Promise.resolve()
          .then(() => plugin.check?.(options, { mayFetch: fetcher.mayFetch }))
          .catch((error) =>
            log.warn({ plugin: plugin.name, reason: joinedMessages(error) }, 'events cannot be sent'),
          )
      for (const loaded of plugins.filter(({ plugin }) => plugin.durable)) {
        const handle = async (queued: QueuedEvent, signal: AbortSignal) => {
          const { name, event, id } = queued
          const target = loaded.targets.get(name)?.find((each) => digest(each) === queued.target)
          if (target === undefined) return
          const stamp = { id, occurredAt: new Date(queued.occurredAt) }
          const eventCall = { name, event, target, signal, stamp }
          await places.take(`${loaded.plugin.name} ${target}`, signal, () => call(loaded, eventCall))
        }
        jobs.work<QueuedEvent>(
          kindOf(loaded.plugin),
          ({ data }, { signal }) => handle(data, signal).catch(retried),
          plan,
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
      target: digest(target),
    }
  })
}

function kindOf({ name }: { name: string }): string {
  return `event-${name}`
}

function digest(target: string): string {
  return sha256(target).slice(0, 16)
}
