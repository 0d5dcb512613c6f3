import type { Readable } from 'node:stream'
import type { Client } from '../../core/clients/client.ts'
import type { Annotations } from '../../core/files/annotations.ts'
import type { OriginalName } from '../../core/files/object-key.ts'
import type { Format } from '../../core/media/formats.ts'
import type { SniffedType } from '../../core/media/sniff/sniff.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import type { Patience } from './direct/patience.ts'
import type { ContentRules } from './rules/upload-rules.ts'

/** An incoming file. */
export interface IncomingFile {
  /** The file name that the client sent. */
  name: string
  bytes: Readable
  /**
   * Stores the bytes under the key of the file, in place of `put` of the bucket: `bytes` can be read only after that has begun. It reads
   * the passed bytes to their end. The type of such a file must be detected already.
   */
  put?: Bucket['put']
}

export interface UploadRequest {
  client: Client
  /** The requested folder, not yet validated. */
  folder: string | undefined
  /** Replaces `folder`, as far as the form has arrived: called before each file, and at its end. @throws Problem */
  lateFolder?: () => string | undefined
  /** The files in turn: the next one is requested when the previous one has been read to its end. */
  files: AsyncIterable<IncomingFile>
  /**
   * Throws to refuse a file by its format. Called for each file before it is stored, and again for all files at the end of
   * the form, because fields that follow the files may affect it.
   */
  check?: (format: Format) => void
  /** Tags and metadata for all files; called at the end of the form. */
  annotations?: () => Annotations
  /** The id of the file, for a request with one file. By default each file has a new id. */
  id?: string
  /** The type of the file, for a request with one file whose type is already detected. */
  sniffed?: SniffedType
  /** The rules of a link for the content. They apply in addition to those of the client. */
  linkRules?: ContentRules
  /** Limit of each file, if it is below the general limit. */
  maxBytes?: number
  /** Called for each file before anything of it is stored. Throws to refuse the file. */
  begin?: (name: OriginalName) => Promise<void>
  /** Called when all bytes are stored, before the commit. Throws to delete them again. */
  confirm?: () => Promise<void>
  /** Runs the steps that follow the bytes. Default: each once. */
  patience?: Patience
  /** Whether no event is emitted. The usage of the client does not count these uploads either. */
  isSilent?: boolean
  signal: AbortSignal
}

/** A stored original and where it can be fetched from the bucket. */
export interface UploadedFile {
  name: OriginalName
  record: OriginalRecord
  bucketUrl: string
}

/** Stores all files of a request, or none. @throws Problem 400 (a folder), 413, 415, 422, 503 */
export type Upload = (request: UploadRequest) => Promise<UploadedFile[]>
