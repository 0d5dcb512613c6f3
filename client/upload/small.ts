import type { FileRecord } from '../generated/api.ts'
import { SluiceError } from '../http/problem.ts'
import type { UploadProgress } from '../http/progress.ts'
import type { Api, ApiRequest } from '../http/request.ts'

/** A file that is sent in one request. */
export interface SmallUpload {
  api: Api
  request: Pick<
    ApiRequest,
    'method' | 'path' | 'query' | 'headers' | 'once' | 'isAnonymous' | 'retries' | 'waits' | 'signal'
  >
  bytes: Blob
  onProgress: ((progress: UploadProgress) => void) | undefined
}

/** Sends a file as the body of a request. */
export async function uploadRaw({ bytes, request, ...upload }: SmallUpload): Promise<FileRecord> {
  const headers = await digestHeader(bytes)
  // Sluice detects the type from the bytes. Without a type of its own, a Blob has no Content-Type to send.
  return sent({ ...upload, request: { ...request, headers }, bytes, body: bytes.slice(0, bytes.size) })
}

/** With it, Sluice refuses bytes that were damaged on their way. Browsers have no digests for pages without HTTPS: none. */
async function digestHeader(bytes: Blob): Promise<Record<string, string>> {
  const digest = await globalThis.crypto?.subtle?.digest('SHA-256', await bytes.arrayBuffer())
  if (!digest) return {}
  return { 'Repr-Digest': `sha-256=:${btoa(String.fromCharCode(...new Uint8Array(digest)))}:` }
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
