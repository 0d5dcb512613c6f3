import type { Readable } from 'node:stream'
import type { Asset } from '../bytes/asset.ts'

/** A temporary file of this machine. */
export interface Spooled {
  asset: Asset
  /** Deletes the file. Does nothing when it was already deleted. */
  remove(): Promise<void>
}

/**
 * Writes a stream to a temporary file, so that it can be read several times. After an error, no file remains.
 * @throws Problem 503 when the disk is full; the error of the stream; `signal.reason`
 */
export type Spool = (bytes: Readable, options: { mediaType: string; signal: AbortSignal }) => Promise<Spooled>
