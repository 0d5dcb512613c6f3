import type {
  CopyReport,
  DeletedDerivatives,
  DeletedFile,
  FileChange,
  FileList,
  FileRecord,
  FileWithDerivatives,
  File as ListedFile,
  MoveReport,
} from '../generated/api.ts'
import { type Api, type CallOptions, encodedPath } from '../http/request.ts'
import { type FileRef, pathOf } from '../records.ts'
import type { UploadOptions } from '../upload/options.ts'
import type { FileIdentity, RemoteFile, UploadSource } from '../upload/source.ts'
import { type DiscardOptions, discardUpload, uploadFile } from '../upload/upload.ts'
import { type FileReport, type ManyOptions, removeMany, restoreMany, type Selection } from './batch.ts'
import { type CopyItem, copyFiles, type MoveItem, moveFiles } from './copies.ts'
import { type ListOptions, listAll, listPage } from './list.ts'
import { requestZip, type ZipFile, type ZipOptions } from './zip.ts'

/** The files of a client. All calls reject with a {@link SluiceError}. */
export interface Files {
  /**
   * Uploads a Blob, bytes, a stream, `{ path }` of this machine, or a file of another server: `{ url }` or a URL. Large files are sent
   * in chunks, which resume after an interruption.
   */
  upload(file: UploadSource | RemoteFile | URL, options?: UploadOptions): Promise<FileRecord>
  /**
   * Deletes the bytes of an unfinished upload, which could resume. Abort it first. Does nothing without such an upload, and never throws
   * for a failed request: the upload expires by itself.
   */
  discardUpload(file: FileIdentity, options?: DiscardOptions): Promise<void>
  /** All files that fit, page by page as they are needed: `for await (const file of files.list({ prefix: 'shop' }))`. */
  list(options?: ListOptions): AsyncIterableIterator<ListedFile>
  /** One page of a list. */
  page(options?: ListOptions & { cursor?: string | undefined }): Promise<FileList>
  get(file: FileRef, options?: CallOptions): Promise<FileWithDerivatives>
  /** Changes the name, tags, metadata and focal point. `focalPoint: null` removes it. */
  update(file: FileRef, change: FileChange, options?: CallOptions): Promise<FileWithDerivatives>
  /** Deletes a file with its derivatives. `permanently` also when the client has soft delete. */
  delete(file: FileRef, options?: CallOptions & { permanently?: boolean }): Promise<DeletedFile>
  /** Deletes several files, a folder, or all files. The report has an entry for each file. */
  deleteMany(files: Selection, options?: ManyOptions): Promise<FileReport[]>
  /** Restores deleted files. The report has an entry for each file. */
  restore(files: FileRef | readonly FileRef[], options?: CallOptions): Promise<FileReport[]>
  /** Copies files within the bucket: `files.copy([{ file, to: 'archive' }])`. The report has an entry for each file. */
  copy(files: readonly CopyItem[], options?: CallOptions): Promise<CopyReport['results']>
  /** Moves files, and may redirect their former URLs. The report has an entry for each file. */
  move(files: readonly MoveItem[], options?: CallOptions): Promise<MoveReport['results']>
  /** Deletes the derivatives of a file. They are rendered again on request. */
  deleteDerivatives(file: FileRef, options?: CallOptions): Promise<DeletedDerivatives>
  /** A ZIP archive of up to 100 files and derivatives. Its body is a stream. */
  zip(files: readonly ZipFile[], options?: ZipOptions): Promise<Response>
}

/** Creates the calls for files. */
export function createFiles(api: Api): Files {
  const path = (file: FileRef, suffix = '') => `/v1/files/${encodedPath(pathOf(file))}${suffix}`
  return {
    upload: (file, options = {}) => uploadFile(api, file, options),
    discardUpload: (file, options = {}) => discardUpload(api, file, options),
    list: (options) => listAll(api, options),
    page: (options) => listPage(api, options),
    get: (file, { signal } = {}) => api.json({ path: path(file), signal }),
    update: (file, change, { signal } = {}) =>
      api.json({ method: 'PATCH', path: path(file), json: change, isIdempotent: true, signal }),
    delete: (file, { permanently, signal } = {}) =>
      api.json({
        method: 'DELETE',
        path: `/v1/upload/${encodedPath(pathOf(file))}`,
        query: { now: permanently },
        signal,
      }),
    deleteMany: (files, options) => removeMany(api, files, options),
    restore: (files, options) => restoreMany(api, Array.isArray(files) ? files : [files as FileRef], options),
    copy: (files, options) => copyFiles(api, files, options),
    move: (files, options) => moveFiles(api, files, options),
    deleteDerivatives: (file, { signal } = {}) =>
      api.json({ method: 'DELETE', path: path(file, '/derivatives'), signal }),
    zip: (files, options) => requestZip(api, files, options),
  }
}
