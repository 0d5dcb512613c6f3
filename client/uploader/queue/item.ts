import type { FileRecord } from '../../generated/api.ts'
import { newId } from '../../http/new-id.ts'
import type { SluiceError } from '../../http/problem.ts'

/**
 * - `waiting`: for its turn, or for `retryAt`
 * - `interrupted`: the page was reloaded, and the browser has not stored the file. It continues when the same file is added again
 */
export type UploadStatus = 'waiting' | 'uploading' | 'paused' | 'done' | 'failed' | 'interrupted'

/** One file of a queue. Never changes: each change creates another object. */
export interface UploadItem {
  readonly id: string
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** The media type that the browser has guessed from the name. Can be empty. */
  readonly type: string
  /** Milliseconds since 1970. */
  readonly lastModified: number
  /** The folder within a dropped folder, such as `photos/2026`. Empty for a single file. */
  readonly folder: string
  readonly status: UploadStatus
  /** In bytes. */
  readonly sentBytes: number
  /** Undefined while it is `interrupted`. */
  readonly file: File | undefined
  /** The stored file, when it is `done`. */
  readonly record: FileRecord | undefined
  /** Why it has `failed`, or why it waits until `retryAt`. */
  readonly error: SluiceError | undefined
  /** When the queue retries by itself, in milliseconds since 1970. */
  readonly retryAt: number | undefined
}

/** All files of a queue. Never changes: each change creates another object. */
export interface QueueState {
  readonly items: readonly UploadItem[]
  /** Whether a file is sent or waits for its turn. */
  readonly isUploading: boolean
  /** Sums of all files except failed ones, in bytes. */
  readonly sentBytes: number
  readonly totalBytes: number
}

/** A file and its place in a dropped folder. */
export interface FolderFile {
  file: File
  folder: string
}

/** The state of a queue with these files. */
export function stateOf(items: readonly UploadItem[]): QueueState {
  const counted = items.filter(({ status }) => status !== 'failed')
  const sum = (name: 'size' | 'sentBytes') => counted.reduce((bytes, item) => bytes + item[name], 0)
  return {
    items,
    isUploading: items.some(isActive),
    sentBytes: sum('sentBytes'),
    totalBytes: sum('size'),
  }
}

/** Whether a file is sent, or waits for its turn or for `retryAt`. */
export function isActive({ status }: Pick<UploadItem, 'status'>): boolean {
  return status === 'uploading' || status === 'waiting'
}

/** What a page knows of a file; without a size for what has no bytes here. */
interface KnownFile extends Pick<UploadItem, 'name' | 'lastModified'> {
  size: number | undefined
}

/** Whether two files are the same, as far as a page can know. */
export function isSameFile(one: KnownFile, other: KnownFile): boolean {
  return one.name === other.name && one.size === other.size && one.lastModified === other.lastModified
}

/** A file that was just added. With an error, it has failed. */
export function newItem({
  file,
  folder,
  error,
}: FolderFile & { error: SluiceError | undefined }): UploadItem {
  const { name, size, type, lastModified } = file
  return {
    id: newId(),
    name,
    size,
    type,
    lastModified,
    folder,
    file,
    error,
    status: error ? 'failed' : 'waiting',
    sentBytes: 0,
    record: undefined,
    retryAt: undefined,
  }
}
