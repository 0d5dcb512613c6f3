import type { EventName, EventStamp, Events } from '../events.ts'

/**
 * Calls the listeners of the event plugins once for each event, in the process that emitted it. A listener that fails or
 * hangs never affects the request: `emit` returns at once and never throws.
 */
export interface EventBus {
  emit<N extends EventName>(name: N, event: Events[N]): void
  /** `label` names the listener in the log. */
  on<N extends EventName>(name: N, label: string, listener: Listener<N>): void
  /** Resolves when no listener is running; for an orderly shutdown. */
  idle(): Promise<void>
}

/** `signal` aborts when the time of the listener is over. `stamp` is equal for all listeners of one event. */
export type Listener<N extends EventName> = (
  event: Events[N],
  signal: AbortSignal,
  stamp: EventStamp,
) => unknown
