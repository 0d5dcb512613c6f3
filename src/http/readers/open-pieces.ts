import type { Asset, OpenOptions } from '../../core/bytes/asset.ts'
import { piecesOf } from '../../core/bytes/resumed-asset.ts'

// While a reader takes nothing, its file or connection to S3 is closed, and opened again when it continues: a paused
// video costs one piece of memory. Ceph's gateway and nginx would close the connection after about 60 s.
const IDLE_MS = 10_000

/** An asset for an answer. A source that breaks off ends the answer: nothing is resumed. @throws Problem 404, 503 */
export function openPieces(asset: Asset, options: OpenOptions): Promise<AsyncIterable<Buffer>> {
  return piecesOf(asset, { ...options, idleMs: IDLE_MS, pausesMs: [] })
}
