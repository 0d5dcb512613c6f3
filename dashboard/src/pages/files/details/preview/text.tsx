import { useQuery } from '@tanstack/react-query'
import type { ListedFile } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { Skeleton } from '../../../../ui/skeleton.tsx'
import { useDelivery } from '../data/delivery.ts'
import { DETAILS } from '../texts.ts'
import { NoPreview } from './no-preview.tsx'

const SHOWN_BYTES = 65_536

/** The beginning of a text. */
export function TextPreview({ file }: { file: ListedFile }) {
  const { client } = useClient()
  const { urls, error: notSigned } = useDelivery(file, [''])
  const url = urls?.[0]
  const { data, error } = useQuery({
    queryKey: [client.id, 'file', file.s3PathOriginal, 'text'],
    queryFn: async ({ signal }) => {
      const headers = file.size > SHOWN_BYTES ? { Range: `bytes=0-${SHOWN_BYTES - 1}` } : undefined
      const response = await fetch(url ?? '', { signal, ...(headers && { headers }) })
      if (!response.ok) throw new Error(DETAILS.notLoaded)
      return response.text()
    },
    enabled: url !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const failure = error ?? notSigned
  if (failure) return <NoPreview file={file} error={failure} />
  if (data === undefined) return <Skeleton className="m-4 h-40" />
  return (
    <section
      aria-label={file.originalName}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
      className="h-full overflow-auto bg-surface p-4 outline-offset-[-2px]"
    >
      <pre className="whitespace-pre-wrap break-words font-mono text-sm">{data}</pre>
      {file.size > SHOWN_BYTES && <p className="mt-3 text-faint text-sm">{DETAILS.textCut}</p>}
    </section>
  )
}
