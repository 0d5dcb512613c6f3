import type { Readable } from 'node:stream'
import type { Asset } from '../bytes/asset.ts'

/** A temporary file of this machine. */
export interface Spooled {
  asset: Asset
  /** Does no harm when it is gone. */
  remove(): Promise<void>
}

/**
 * Writes what can be read only once to where it can be read again.
 * @throws Problem 503 when there is no room, what the bytes fail with, `signal.reason`: then nothing is left
 */
export type Spool = (bytes: Readable, options: { mediaType: string; signal: AbortSignal }) => Promise<Spooled>
