import type { Readable } from 'node:stream'
import type { Asset } from '../bytes/asset.ts'

/** A temporary file of this machine. */
export interface Spooled {
  asset: Asset
  /** Removes the file. Does nothing if it was removed before. */
  remove(): Promise<void>
}

/**
 * Writes a stream to a temporary file, which can be read several times.
 * @throws Problem 503 when the disk is full, the error of the stream, `signal.reason`. Then no file remains
 */
export type Spool = (bytes: Readable, options: { mediaType: string; signal: AbortSignal }) => Promise<Spooled>
