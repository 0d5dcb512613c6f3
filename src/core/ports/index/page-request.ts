import type { ObjectKey } from '../../files/object-key.ts'
import type { ListedState } from './listed-state.ts'

/**
 * `name` is the original name, `sha256` the first 12 digits of the digest. A file whose name changes during a listing by name may be in
 * no part, or in two.
 */
export type ListOrder = 'key' | 'storedAt' | 'sha256' | 'name' | 'size'

/** A part of the list of a client's originals in one state. */
export interface PageRequest {
  state: ListedState
  /**
   * Equal ones have an order that does not change while they are listed; each store has its own. Texts are compared by their bytes in
   * UTF-8, names with A to Z as a to z.
   */
  by: ListOrder
  direction?: 'up' | 'down'
  /**
   * Only originals with this prefix. By `key`: of their key, up to any `/`. By `sha256`: the digest, a space and the key up to its last `/`.
   * Not in other orders.
   */
  prefix?: string
  /** The position after which the part begins, of {@link Positions}; no entry needs to have it any more. */
  after?: string
  /** Leaves out the files whose key does not match, without reading their records. A page with fewer files may not be the last. */
  matches?: (key: ObjectKey) => boolean
  /** At least 1. */
  limit: number
}

export interface Positions {
  /** Whether a text has the form of a position in a list of this index. One of an older version or of another store may not. */
  isPosition(position: string, by: ListOrder): boolean
}
