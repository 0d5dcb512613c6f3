import type { UploadItem } from './item.ts'

/** What is stored of a file without its bytes. */
export type UploadIdentity = Pick<UploadItem, 'id' | 'name' | 'size' | 'type' | 'lastModified' | 'folder'>

/** An unfinished upload. */
export interface StoredUpload extends UploadIdentity {
  /** Undefined for a file that is too large to be stored. */
  file: File | undefined
  isPaused: boolean
  /** Milliseconds since 1970. */
  storedAt: number
}

/** Where unfinished uploads are stored, so that they continue after a reload of the page. */
export interface UploadMemory {
  /** The uploads of pages that are closed. */
  list(): Promise<StoredUpload[]>
  put(upload: StoredUpload): Promise<void>
  /** Whether it begins by itself after a reload. Ignored for an upload that is not stored. */
  setPaused(id: string, isPaused: boolean): void
  delete(id: string): Promise<void>
}

/** What is stored of a file. */
export function storedOf(
  { id, name, size, type, lastModified, folder }: UploadIdentity,
  file: File,
): StoredUpload {
  return { id, name, size, type, lastModified, folder, file, isPaused: false, storedAt: Date.now() }
}

/** The file of an earlier page. Without its bytes it is `interrupted`. */
export function restored({ storedAt: _, isPaused, ...upload }: StoredUpload): UploadItem {
  return {
    ...upload,
    status: upload.file ? (isPaused ? 'paused' : 'waiting') : 'interrupted',
    sentBytes: 0,
    record: undefined,
    error: undefined,
    retryAt: undefined,
  }
}
