import type { FileRecord } from '../../generated/api.ts'
import { createUploader, type Uploader } from '../../upload/link.ts'
import type { UploadItem } from './item.ts'
import type { QueueOptions } from './options.ts'

/** Uploads the file of an item. @throws SluiceError, and what a function for links throws */
export function send({
  item,
  file,
  options,
  signal,
  onProgress,
}: {
  item: UploadItem
  file: File
  options: QueueOptions
  signal: AbortSignal
  onProgress: (sentBytes: number) => void
}): Promise<FileRecord> {
  const { resumableFromBytes, direct, chunkBytes, resume } = options
  return uploaderOf(item, options).upload(file, {
    ...(resumableFromBytes === undefined ? {} : { resumableFromBytes }),
    direct,
    ...(chunkBytes === undefined ? {} : { chunkBytes }),
    ...(resume === undefined ? {} : { resume }),
    // The queue waits by itself, so that the user sees why.
    retries: false,
    signal,
    onProgress: ({ sentBytes }) => onProgress(sentBytes),
  })
}

/** Deletes the bytes of an unfinished upload: it would take a use of its link until it expires. */
export function discard(item: UploadItem, options: QueueOptions): void {
  const { resume } = options
  void uploaderOf(item, options)
    .discard(item, resume === undefined ? {} : { resume })
    .catch(() => {})
}

function uploaderOf({ folder }: UploadItem, { link, resumeScope = '', fetch }: QueueOptions): Uploader {
  return createUploader({
    link: typeof link === 'function' ? (wanted) => link({ ...wanted, folder }) : link,
    // Equal files of two folders are two uploads.
    resumeScope: `${resumeScope} ${folder}`.trim(),
    ...(fetch ? { fetch } : {}),
  })
}
