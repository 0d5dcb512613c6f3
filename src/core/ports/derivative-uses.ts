import type { FileRef } from '../files/file-ref.ts'
import type { ObjectKey } from '../files/object-key.ts'

/** A use of a derivative. */
export interface Use {
  /** Milliseconds since 1970. */
  at: number
  /** Requested by a preset, by a trusted caller, or in advance: evicted after all others. Once true, it stays true. */
  isHeld: boolean
}

/** A stored derivative that could be evicted. */
export interface UsedDerivative {
  original: ObjectKey
  key: ObjectKey
  /** Includes the bytes of its parts. */
  bytes: number
  /** The last noted use; `at` is 0 when there was none. */
  use: Use
}

/**
 * The stored derivatives in the order of their last use, and their bytes. The sums change in the same atomic steps as the entries:
 * a derivative is counted exactly while it is listed here.
 */
export interface DerivativeUses {
  /**
   * The bytes of the stored derivatives of the client, and of this original.
   * @param options.mayBeOld whether the bytes of the client's other originals may be those of the last second
   */
  derivedBytes(ref: FileRef, options?: { mayBeOld: boolean }): Promise<{ client: number; original: number }>
  /**
   * The derivatives of a client or of one original in the order of eviction: least recently used first, held ones after all others.
   * @param limit at least 1
   */
  leastUsed(of: { clientId: string; key?: ObjectKey }, limit: number): Promise<UsedDerivative[]>
  /** Notes a use of a stored derivative. A use before the last noted one changes nothing. */
  noteUse(ref: FileRef, derivative: ObjectKey, use: Use): Promise<void>
  /**
   * `stored` → `pending` until the deadline, and no longer counted: the first step of an eviction. A sweep after the deadline keeps
   * the derivative if its bytes still exist.
   * @returns false, and changes nothing, when it is not `stored`, or its original is neither `stored` nor `trashed`
   */
  beginEviction(ref: FileRef, derivative: ObjectKey, deadline: number): Promise<boolean>
  /** Counts the stored derivatives of an original, if an older version has not counted them. */
  countDerivatives(ref: FileRef): Promise<void>
}
