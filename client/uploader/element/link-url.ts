import { errorOf, SluiceError } from '../../http/problem.ts'
import type { UploadLink } from '../../upload/link.ts'
import type { QueuedLinkFile, QueueOptions } from '../queue/queue.ts'

/**
 * The link for a file of an element: from its `link`, or from the server at its `link-url`, which receives the file as JSON.
 *
 * @throws SluiceError when the server refuses it
 */
export async function linkFrom(
  element: HTMLElement,
  link: QueueOptions['link'] | undefined,
  file: QueuedLinkFile,
): Promise<UploadLink> {
  const given = link ?? element.getAttribute('link') ?? undefined
  if (given !== undefined) return typeof given === 'function' ? given(file) : given
  const url = element.getAttribute('link-url')
  if (url === null) throw new TypeError('The uploader needs the attribute link-url or link.')
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
