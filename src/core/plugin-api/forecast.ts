import type { Asset } from '../bytes/asset.ts'
import type { Reducible } from '../media/smaller-copies.ts'

/** The estimated cost of a transformation. */
export interface Forecast {
  /** Memory at its peak, rounded up rather than down. */
  bytes: number
  /** Whether only the end of its process may be able to stop it. */
  mayHang: boolean
  /** Whether the engine runs a process of its own, which it ends itself. */
  ownProcess?: boolean
  /** The source, in memory when it has been read already. */
  source: Asset
  /** Set when a smaller copy of the source is enough. */
  reducible?: Reducible
}
