import { wait } from '../../../../../client/http/wait.ts'
import { type FileRecord, SluiceError } from '../../../../../client/index.ts'
import { retryAtOf } from '../../../../../client/uploader/queue/failure.ts'
import { libraryFor } from '../../../api/clients.ts'
import type { UploadItem } from './item.ts'

/** Uploads the source of an item, and waits as long as a busy service requests. @throws SluiceError, and the reason of the signal */
export async function send(
  { clientId, folder }: UploadItem,
  source: File | URL,
  {
    signal,
    onProgress,
    onBusy,
  }: {
    signal: AbortSignal
    onProgress: (sentBytes: number) => void
    /** Receives when a refused request is sent again, in milliseconds since 1970; undefined then. */
    onBusy: (until: number | undefined) => void
  },
): Promise<FileRecord> {
  for (;;) {
    try {
      return await libraryFor(clientId).files.upload(source, {
        ...inFolder(folder),
        // The policy of the page permits no requests to the bucket.
        direct: false,
        // This function waits instead, so that the member sees why.
        retries: false,
        signal,
        onProgress: ({ sentBytes }) => onProgress(sentBytes),
      })
    } catch (error) {
      const until = error instanceof SluiceError ? retryAtOf(error) : undefined
      if (until === undefined || signal.aborted) throw error
      onBusy(until)
      await wait(until - Date.now(), signal)
      onBusy(undefined)
    }
  }
}

/** Deletes the bytes of an unfinished upload. */
export function discard({ clientId, folder, name, size, type, lastModified }: UploadItem): void {
  if (size === undefined) return
  void libraryFor(clientId).files.discardUpload({ name, size, type, lastModified }, inFolder(folder))
}

const inFolder = (folder: string) => (folder === '' ? {} : { folder })
