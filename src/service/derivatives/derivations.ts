import type { Asset } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import type { FoundOriginal } from '../originals/originals.ts'

export interface DeriveRequest extends FoundOriginal {
  client: Client
  /** The first caller. Callers that join later cause no work. */
  caller: Caller
  /** A plan with at least one step. */
  plan: Plan
  /** The derivative that is the source, instead of the original. It is stored. */
  from?: ObjectKey | undefined
  /** The bytes that are the source, instead of those of the original. */
  source?: Asset
  /** Whether the derivative is evicted after all others: requested by a preset, in advance, or by a trusted caller. */
  isHeld?: boolean
  /** The time limit of the render; default: that of images. */
  timeoutMs?: number
  /** Called with the progress of a media job, from 0 to 1. */
  progress?: (fraction: number) => void
  /** Called before a render begins, not when a caller joins. Its error is the response. */
  beforeRender?: (() => Promise<void>) | undefined
  /** Whether a retry follows this error. The event of a failure is emitted after the last attempt only. */
  isTriedAgain?: (error: unknown) => boolean
  signal: AbortSignal
}

/** A rendered derivative. */
export interface MadeAsset extends Asset {
  /** A storage limit is reached, so it is not stored. The next request renders it again. */
  isUnstored?: true
}

/** A derivative that counts against the limits before it is rendered. */
export interface Reserved {
  clientId: string
  original: ObjectKey
  derivative: ObjectKey
  /** As `reserve` has returned it. */
  deadline: number
}

/** Renders and stores derivatives. */
export interface Derivations {
  /**
   * Renders a derivative, or joins a render in progress. Small outputs are returned while they are still being stored.
   * @throws Problem 404 when the original is being deleted, or a file that a parameter names does not exist; 422 when it cannot be
   *   transformed; 429 when there is no room to store it and it is too large to be sent from memory; 503 when too many wait
   */
  derive(request: DeriveRequest): Promise<MadeAsset>
  /**
   * Counts a derivative that a job will render later against the limits of its original.
   * @returns the deadline, in milliseconds since 1970
   * @throws Problem 404 when the original is being deleted, 429 when a limit is reached and no derivative can be evicted
   */
  reserve(request: Omit<DeriveRequest, 'caller' | 'signal' | 'progress'>): Promise<number>
  /** Reverts {@link Derivations.reserve} when the derivative is not rendered after all. */
  release(reserved: Reserved): Promise<void>
  /** Resolves when this process has stopped rendering and storing this derivative, successfully or not. */
  ended(client: Client, key: ObjectKey): Promise<void>
  /** Resolves when no render or put is in progress; for a graceful shutdown. */
  idle(): Promise<void>
}
