import type { Asset } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import type { FoundOriginal } from '../originals/originals.ts'

export interface DeriveRequest extends FoundOriginal {
  client: Client
  /** Who asks first: those who join cause no work. */
  caller: Caller
  /** With at least one step. */
  plan: Plan
  /** Whether it is evicted after all others: requested by a preset, in advance, or by a trusted caller. */
  isHeld?: boolean
  /** What rendering may take, where that is more than usual. */
  timeoutMs?: number
  /** Is told how much of it is done, from 0 to 1, by what takes minutes. */
  progress?: (fraction: number) => void
  /** Asked before it is begun, not of those who join: what it throws is their answer. */
  beforeRender?: (() => Promise<void>) | undefined
  /** Whether a failure is not the end: it is told of when no other try follows. */
  isTriedAgain?: (error: unknown) => boolean
  signal: AbortSignal
}

/** A derivative that is there now. */
export interface MadeAsset extends Asset {
  /** There was no room to store it: it is rendered again for the next request. */
  isUnstored?: true
}

/** A derivative that was counted before it is made. */
export interface Reserved {
  clientId: string
  original: ObjectKey
  derivative: ObjectKey
  /** As `reserve` has answered. */
  deadline: number
}

/** Makes derivatives that are not there yet, and stores them. */
export interface Derivations {
  /**
   * Renders a derivative, or waits for whoever renders it already. Answers as soon as the bytes are there, while they
   * are still being stored, unless there are many of them.
   * @throws Problem 404 when the original is going, or a file that a parameter names is not there, 422 when it cannot be
   * transformed, 429 when it is too large to be answered without being stored and there is no room for it, 503 when too
   * many wait
   */
  derive(request: DeriveRequest): Promise<MadeAsset>
  /**
   * Counts a derivative that is to be made later among those of its original.
   * @returns until when, in milliseconds since 1970
   * @throws Problem 404 when the original is going, 429 when there is no room and none can be evicted
   */
  reserve(request: Omit<DeriveRequest, 'caller' | 'signal' | 'progress'>): Promise<number>
  /** Ends what {@link Derivations.reserve} has begun: it is not made after all. */
  release(reserved: Reserved): Promise<void>
  /** Resolves when this process neither makes nor stores this derivative any more, well or not. */
  ended(client: Client, key: ObjectKey): Promise<void>
  /** Resolves when nothing is being made or stored; for an orderly end. */
  idle(): Promise<void>
}
