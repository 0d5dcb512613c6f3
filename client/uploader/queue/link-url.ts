import { errorOf, SluiceError } from '../../http/problem.ts'
import type { UploadLink } from '../../upload/link.ts'
import type { QueuedLinkFile } from './options.ts'

/**
 * Requests the link for a file from your server, which receives the file as JSON: `{ name, size, type, folder }`.
 *
 * @throws SluiceError when the server refuses it
 */
export async function linkFromUrl(url: string, file: QueuedLinkFile): Promise<UploadLink> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(file),
  }).catch((cause: unknown) => {
    throw new SluiceError(`Could not reach ${url}.`, { code: 'network', cause })
  })
  if (!response.ok) throw await errorOf(response)
  return response.json()
}
