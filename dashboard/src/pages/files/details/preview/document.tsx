import { useQuery } from '@tanstack/react-query'
import type { ListedFile } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { Spinner } from '../../../../ui/skeleton.tsx'
import { useDelivery } from '../data/delivery.ts'
import { DETAILS } from '../texts.ts'
import { NoPreview } from './no-preview.tsx'

// LibreOffice may be busy with other documents. The service responds at once when too many requests wait.
const POLL_MS = 2000
// Each request waits for up to 30 s by itself. The member can open the file again.
const REQUESTS_MAX = 20

/** The first page of an Office document, or the cover of a book. */
export function DocumentPreview({ file }: { file: ListedFile }) {
  const { client } = useClient()
  const { urls, error: notSigned } = useDelivery(file, ['w=1280&f=webp&wait=30'])
  const url = urls?.[0]
  const { data: shown, error } = useQuery({
    queryKey: [client.id, 'file', file.s3PathOriginal, 'page', url],
    queryFn: ({ signal }) => rendered(url ?? '', signal),
    enabled: url !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const failure = error ?? notSigned
  if (failure) return <NoPreview file={file} error={failure} />
  if (!shown)
    return (
      <div className="flex h-full items-center justify-center gap-2 text-muted text-sm">
        <Spinner label={DETAILS.pageInProgress} />
        <span aria-hidden="true">{DETAILS.pageInProgress}</span>
      </div>
    )
  return (
    <div className="h-full overflow-auto p-4">
      <img src={shown} alt={file.originalName} className="mx-auto max-w-full shadow-raised" />
    </div>
  )
}

/** The URL of a picture as soon as it is rendered. @throws Error with the reason, when it cannot be */
async function rendered(url: string, signal: AbortSignal): Promise<string> {
  for (let requests = 1; ; requests += 1) {
    const response = await fetch(url, { signal })
    if (response.ok) {
      // The picture below is then in the cache of the browser.
      await response.arrayBuffer()
      return url
    }
    if (response.status !== 423 || requests >= REQUESTS_MAX) {
      const problem = (await response.json().catch(() => undefined)) as { detail?: string } | undefined
      throw new Error(problem?.detail ?? DETAILS.notLoaded)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    signal.throwIfAborted()
  }
}
