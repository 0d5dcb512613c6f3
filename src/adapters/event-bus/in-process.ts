import { type EventName, type EventStamp, newEventStamp } from '../../core/events.ts'
import type { Log } from '../../core/log.ts'
import type { EventBus, Listener } from '../../core/ports/event-bus.ts'

// Time limit of one listener for one event. After it, the signal is aborted and the listener is no longer awaited.
const LISTENER_LIMIT_MS = 10_000

/** Events within one process. Listeners run after the current turn of the event loop. */
export function inProcessEventBus(log: Log, { limitMs = LISTENER_LIMIT_MS } = {}): EventBus {
  const listeners = new Map<EventName, Array<{ label: string; listener: Listener<EventName> }>>()
  const running = new Set<Promise<void>>()

  async function call(
    name: EventName,
    label: string,
    listener: Listener<EventName>,
    event: never,
    stamp: EventStamp,
  ): Promise<void> {
    const signal = AbortSignal.timeout(limitMs)
    const over = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    try {
      await Promise.race([Promise.resolve().then(() => listener(event, signal, stamp)), over])
    } catch (error) {
      log.warn({ err: error, event: name, plugin: label }, 'an event handler failed')
    }
  }

  return {
    emit(name, event) {
      const stamp = newEventStamp()
      for (const { label, listener } of listeners.get(name) ?? []) {
        const done = call(name, label, listener, event as never, stamp).finally(() => running.delete(done))
        running.add(done)
      }
    },
    on(name, label, listener) {
      const list = listeners.get(name) ?? []
      list.push({ label, listener: listener as Listener<EventName> })
      listeners.set(name, list)
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
