import type { Readable } from 'node:stream'
import type { Client } from '../../core/clients/client.ts'
import type { Annotations } from '../../core/files/annotations.ts'
import type { OriginalName } from '../../core/files/object-key.ts'
import type { Format } from '../../core/media/formats.ts'
import type { SniffedType } from '../../core/media/sniff/sniff.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'

/** One file that is coming in. */
export interface IncomingFile {
  /** As its sender calls it. */
  name: string
  bytes: Readable
}

export interface UploadRequest {
  client: Client
  /** As asked for; checked here. */
  folder: string | undefined
  /** One after the other: the next is taken when the one before has been read to its end. */
  files: AsyncIterable<IncomingFile>
  /**
   * Refuses a file by its format. Asked of each before it is stored, and once more of all when the form is at its end: what
   * it wants of them may stand behind them.
   */
  check?: (format: Format) => void
  /** What the sender says of all files; asked when the form is at its end. */
  annotations?: () => Annotations
  /** The id of its one file; a new one for each when absent. */
  id?: string
  /** What its one file is, where that has been found out before: its first bytes are not asked again. */
  sniffed?: SniffedType
  /** Of each file, where that is less than what everybody may store. */
  maxBytes?: number
  /** Told of each file before anything of it is stored. What it throws refuses the file. */
  begin?: (name: OriginalName) => Promise<void>
  /** Asked when all bytes are there, before they count. What it throws takes them back. */
  confirm?: () => Promise<void>
  signal: AbortSignal
}

/** A stored original and where it can be fetched from the bucket. */
export interface UploadedFile {
  name: OriginalName
  record: OriginalRecord
  bucketUrl: string
}

/** Stores all files of a request, or none. @throws Problem 400 (a folder, an empty file), 413, 503 */
export type Upload = (request: UploadRequest) => Promise<UploadedFile[]>
