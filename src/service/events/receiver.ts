import { sha256 } from '../../core/bytes/digest.ts'
import { type EventName, TEST_EVENT } from '../../core/events.ts'
import type { Receiver } from '../../core/ports/events/delivery-log.ts'
import type { LoadedEventPlugin } from '../../pipeline/load/load.ts'

/** A digest, since targets are mostly URLs, and some contain secrets. */
export function targetDigest(target: string): string {
  return sha256(target).slice(0, 16)
}

/** The receiver of a target as operators see it, without secrets that its URL may contain. */
export function receiverOf({ plugin }: Pick<LoadedEventPlugin, 'plugin'>, target: string): Receiver {
  const host = URL.canParse(target) ? new URL(target).host : ''
  return { id: targetDigest(target), name: host === '' ? plugin.name : host }
}

/** A receiver with the events that it gets. */
export interface ReceiverEvents extends Receiver {
  events: readonly EventName[]
}

/** All receivers whose deliveries are queued and logged, in the order of the configuration. */
export function receiversOf(plugins: readonly LoadedEventPlugin[]): ReceiverEvents[] {
  const found = new Map<string, Receiver & { events: Set<EventName> }>()
  for (const loaded of plugins.filter(({ plugin }) => plugin.durable))
    for (const [event, targets] of loaded.targets)
      for (const target of targets) {
        const receiver = receiverOf(loaded, target)
        const known = found.get(receiver.id) ?? { ...receiver, events: new Set() }
        found.set(receiver.id, known)
        if (event !== TEST_EVENT) known.events.add(event)
      }
  return [...found.values()].map(({ events, ...receiver }) => ({ ...receiver, events: [...events] }))
}

/** The kind of the jobs that call a durable plugin. */
export function kindOf({ name }: { name: string }): string {
  return `event-${name}`
}
