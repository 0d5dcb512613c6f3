import { newId } from '../../../../../client/http/new-id.ts'
import {
  isSameFile,
  type UploadItem as QueuedFile,
  type UploadStatus,
} from '../../../../../client/uploader/queue/item.ts'

/** One upload. Never changes: each change creates another object. */
export interface UploadItem extends Omit<QueuedFile, 'size' | 'status' | 'file' | 'retryAt'> {
  /** Begins with the id of the client, then a colon. */
  readonly id: string
  readonly clientId: string
  /** Where the file goes: `photos/2026`. Empty: the top folder. */
  readonly folder: string
  /** In bytes. Undefined for a URL. */
  readonly size: number | undefined
  /** `storing`: all bytes are sent, the service is storing the file. */
  readonly status: UploadStatus | 'storing'
  /** What is sent. Undefined while it is `interrupted`. The service fetches the file of a URL by itself. */
  readonly source: File | URL | undefined
  /** The service is busy: when the upload continues by itself, in milliseconds since 1970. */
  readonly busyUntil: number | undefined
}

/** What a new item is created from. */
export interface NewUpload {
  clientId: string
  folder: string
  source: File | URL
}

/** An upload that waits for its turn. */
export function newItem({ clientId, folder, source }: NewUpload): UploadItem {
  const isFile = source instanceof File
  return {
    id: `${clientId}:${newId()}`,
    clientId,
    folder,
    name: isFile ? source.name : nameIn(source),
    size: isFile ? source.size : undefined,
    type: isFile ? source.type : '',
    lastModified: isFile ? source.lastModified : 0,
    status: 'waiting',
    sentBytes: 0,
    source,
    record: undefined,
    error: undefined,
    busyUntil: undefined,
  }
}

/** Whether two uploads are the same file at the same place, as far as a page can know. */
export function isSameUpload(one: UploadItem, other: UploadItem): boolean {
  return (
    one.clientId === other.clientId &&
    one.folder === other.folder &&
    isSameFile(one, other) &&
    String(one.source instanceof URL && one.source) === String(other.source instanceof URL && other.source)
  )
}

/** Whether bytes of it are still to be sent, or could be. */
export function isUnfinished({ status }: UploadItem): boolean {
  return status !== 'done' && status !== 'failed'
}

/** Whether the service or this page works on it, or will without a click. */
export function isRunning({ status }: UploadItem): boolean {
  return status === 'waiting' || status === 'uploading' || status === 'storing'
}

function nameIn({ pathname, host }: URL): string {
  const last = pathname.split('/').filter(Boolean).at(-1)
  if (last === undefined) return host
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}
