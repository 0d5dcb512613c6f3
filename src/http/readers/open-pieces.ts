import type { Asset, OpenOptions } from '../../core/bytes/asset.ts'
import { piecesOf } from '../../core/bytes/resumed-asset.ts'

// While a reader is paused, its file or S3 connection is closed, and opened again when it continues: a paused video holds
// one piece of memory. Ceph's gateway and nginx would close the connection after about 60 s.
const IDLE_MS = 10_000

/** Opens an asset for a response. When it fails, the response fails: it is not resumed. @throws Problem 404, 503 */
export function openPieces(asset: Asset, options: OpenOptions): Promise<AsyncIterable<Buffer>> {
  return piecesOf(asset, options, { idleMs: IDLE_MS, pausesMs: [] })
}
