import type { Client } from '../../core/clients/client.ts'
import type { Format } from '../../core/media/formats.ts'
import type { Upload, UploadedFile, UploadRequest } from '../upload/upload-request.ts'
import type { FetchPlaceRequest } from './fetch-places.ts'
import type { Remotes } from './source.ts'

export interface RemoteUploadRequest
  extends FetchPlaceRequest,
    Pick<UploadRequest, 'annotations' | 'begin' | 'confirm' | 'isSilent'> {
  client: Client
  /** A URL from `parseRemoteUrl`. */
  url: string
  /** Replaces the file name of the remote server. */
  name?: string | undefined
  /** The requested folder, not yet validated. */
  folder?: string | undefined
  check?: (format: Format) => void
  signal: AbortSignal
}

/** Stores a remote file, completely or not at all. @throws as `Remotes` and {@link Upload} */
export type RemoteUpload = (request: RemoteUploadRequest) => Promise<UploadedFile>

export function createRemoteUpload({
  remotes,
  upload,
  timeoutMs,
  maxBytes,
}: {
  remotes: Remotes
  upload: Upload
  timeoutMs: number
  maxBytes: number
}): RemoteUpload {
  return async ({ asker, address, url, name, folder, ...request }) => {
    const { client, signal } = request
    // Opened within the upload, so that nothing is fetched for an invalid folder.
    async function* files() {
      const file = await remotes.open({ client, asker, address, url, timeoutMs, maxBytes, signal })
      try {
        yield { name: name ?? file.name, bytes: file.bytes }
      } finally {
        file.bytes.destroy()
      }
    }
    const [stored] = await upload({ ...request, folder, files: files() })
    if (!stored) throw new Error('no file was stored')
    return stored
  }
}
