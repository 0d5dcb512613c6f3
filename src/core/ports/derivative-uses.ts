import type { FileRef } from '../files/file-ref.ts'
import type { ObjectKey } from '../files/object-key.ts'

/** How a derivative is used. */
export interface Use {
  /** Milliseconds since 1970. */
  at: number
  /** Requested by a preset, by a trusted caller, or in advance: evicted after all others. Once true it stays so. */
  isHeld: boolean
}

/** A stored derivative that could be evicted. */
export interface UsedDerivative {
  original: ObjectKey
  key: ObjectKey
  /** Its size including its parts. */
  bytes: number
  /** The last noted use; its `at` is 0 when no use was noted. */
  use: Use
}

/**
 * The stored derivatives in the order of their last use, and the sums of their bytes. The sums change in the same atomic
 * steps as the entries: a derivative is counted exactly while it is listed here.
 */
export interface DerivativeUses {
  /** Bytes of the stored derivatives of the client, and of the one original. */
  derivedBytes(ref: FileRef): Promise<{ client: number; original: number }>
  /**
   * The first ones to evict, of a client or of one original: least recently used first, held ones after all others.
   * @param limit at least 1
   */
  leastUsed(of: { clientId: string; key?: ObjectKey }, limit: number): Promise<UsedDerivative[]>
  /** Notes a use of a stored derivative. An earlier instant than the known one changes nothing. */
  noteUse(ref: FileRef, derivative: ObjectKey, use: Use): Promise<void>
  /**
   * `stored` → `pending` until the deadline, and no longer counted: the first step of a delete of this derivative alone.
   * A sweep after the deadline keeps it if its bytes are still there.
   * @returns false, and does nothing, when it is not `stored`, or its original is not
   */
  beginEviction(ref: FileRef, derivative: ObjectKey, deadline: number): Promise<boolean>
  /** Counts the stored derivatives of an original that an older version has not counted. */
  countDerivatives(ref: FileRef): Promise<void>
}
