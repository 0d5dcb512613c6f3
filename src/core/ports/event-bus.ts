import type { EventName, EventStamp, Events } from '../events.ts'

/**
 * Delivers events to the event plugins, each event once, in the process that emitted it. A listener that fails or hangs does not
 * affect the request: `emit` returns at once and never throws.
 */
export interface EventBus {
  emit<N extends EventName>(name: N, event: Events[N]): void
  /** `label` names the listener in the log. */
  on<N extends EventName>(name: N, label: string, listener: Listener<N>): void
  /** Resolves when no listener is running; for a graceful shutdown. */
  idle(): Promise<void>
}

/** `signal`: aborted at the time limit of the listener. `stamp`: the same for all listeners of one event. */
export type Listener<N extends EventName> = (
  event: Events[N],
  signal: AbortSignal,
  stamp: EventStamp,
) => unknown
