import type { EventName, EventStamp, Events } from '../events.ts'

/**
 * Tells the event plugins what happened, each event once, in the process that emitted it. A listener that fails or
 * hangs never touches the request: `emit` returns at once and throws nothing.
 */
export interface EventBus {
  emit<N extends EventName>(name: N, event: Events[N]): void
  /** `label` names the listener in the log. */
  on<N extends EventName>(name: N, label: string, listener: Listener<N>): void
  /** Resolves when no listener is at work; for an orderly end. */
  idle(): Promise<void>
}

/** `signal`: aborted when the listener's time is over. `stamp`: the same for all listeners of one event. */
export type Listener<N extends EventName> = (
  event: Events[N],
  signal: AbortSignal,
  stamp: EventStamp,
) => unknown
