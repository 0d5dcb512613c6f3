import type { FileRecord } from '../generated/api.ts'
import { SluiceError } from '../http/problem.ts'
import type { UploadProgress } from '../http/progress.ts'
import type { Api, ApiRequest } from '../http/request.ts'

/** A file that is sent in one request. */
export interface SmallUpload {
  api: Api
  request: Pick<ApiRequest, 'method' | 'path' | 'query' | 'isAnonymous' | 'retries' | 'signal'>
  bytes: Blob
  onProgress: ((progress: UploadProgress) => void) | undefined
}

/** Sends a file as the body of a request. */
export function uploadRaw({ bytes, ...upload }: SmallUpload): Promise<FileRecord> {
  // Sluice detects the type from the bytes. Without a type of its own, a Blob has no Content-Type to send.
  return sent({ ...upload, bytes, body: bytes.slice(0, bytes.size) })
}

/** Sends a file as a form, with text fields. */
export function uploadForm({
  bytes,
  name,
  fields,
  ...upload
}: SmallUpload & { name: string; fields: Readonly<Record<string, string>> }): Promise<FileRecord> {
  const form = new FormData()
  // The fields first: an invalid one is refused before the file is sent.
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  form.append('file', bytes, name)
  return sent({ ...upload, bytes, body: form })
}

async function sent({
  api,
  request,
  bytes: { size: totalBytes },
  body,
  onProgress,
}: SmallUpload & { body: NonNullable<RequestInit['body']> }): Promise<FileRecord> {
  onProgress?.({ sentBytes: 0, totalBytes })
  const [record] = await api.json<FileRecord[]>({
    ...request,
    kind: 'transfer',
    body,
    // A form is larger than its file.
    onSent: onProgress && ((bytes) => onProgress({ sentBytes: Math.min(bytes, totalBytes), totalBytes })),
  })
  if (!record) throw new SluiceError('The response has no record of the file.', { code: 'bad_response' })
  onProgress?.({ sentBytes: totalBytes, totalBytes })
  return record
}
