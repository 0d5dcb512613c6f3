/** A part of a source. */
export interface Chunk {
  bytes: Blob
  /** Whether the source ends with it. */
  isLast: boolean
}

/** Bytes that are read in parts. */
export interface Source {
  name: string
  /** Undefined for a stream. */
  size: number | undefined
  /** Names this file for a later resume. Undefined when it cannot be recognised again. */
  fingerprint: string | undefined
  /** Whether all bytes can be read again. */
  isReplayable: boolean
  /** At most `maxBytes` from an offset on. A stream only gives the last chunk, or a part of it, again. */
  chunk(from: number, maxBytes: number): Promise<Chunk>
  close(): Promise<void>
}
