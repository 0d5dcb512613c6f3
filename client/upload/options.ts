import type { TransformParameters } from '../delivery/parameters.ts'
import type { UploadProgress } from '../http/progress.ts'
import type { CallOptions } from '../http/request.ts'
import type { ResumeStore } from './resume-store.ts'

/** How a file is sent. */
export interface TransferOptions extends CallOptions {
  /** The name of the file. Default: the name of a File or of a path. */
  name?: string
  /** Called while the file is sent: in browsers continuously, elsewhere after each chunk. */
  onProgress?: ((progress: UploadProgress) => void) | undefined
  /** Files of this size and above, in bytes, are sent as resumable uploads. Default: 8 MiB. */
  resumableFromBytes?: number
  /**
   * Whether files of this size and above are sent straight to the bucket, if the service offers it and the bucket can be reached from
   * here. Else they are sent as resumable uploads. Default: if the service expects that clients reach its bucket.
   */
  direct?: boolean | undefined
  /** The size of one request of a resumable upload to the service, in bytes. Default: 8 MiB. */
  chunkBytes?: number
  /**
   * Whether the upload waits when the service is busy. False: it fails with a 429 or 503 that has `retryAfter`, and a later upload of
   * the same file resumes. Default: true.
   */
  retries?: boolean
  /**
   * Where to store the URLs of unfinished uploads, so that the same file resumes after a reload of the page. Default: localStorage
   * in pages, nothing elsewhere. False: not at all.
   */
  resume?: ResumeStore | false
}

/** What is stored with a file. */
export interface UploadOptions extends TransferOptions {
  /** Up to 8 folders, such as `shop/2026`. */
  folder?: string
  /** Up to 50 tags. */
  tags?: readonly string[]
  /** Up to 50 names with texts. */
  metadata?: Readonly<Record<string, string>>
  /** The default focus of crops: fractions of the sides, each from 0 to 1. */
  focalPoint?: { x: number; y: number }
  /** Derivatives to render in advance, up to 20: query strings or parameters. */
  transforms?: ReadonlyArray<string | TransformParameters>
  /** Whether the record has `options.info`. */
  info?: boolean
}

const MIB = 1024 * 1024
export const RESUMABLE_FROM_BYTES = 8 * MIB
export const CHUNK_BYTES = 8 * MIB
