import { useQuery } from '@tanstack/react-query'
import type { FileInformation, FileWithDerivatives } from '../../../../../client/index.ts'
import { reachable } from '../../../api/base.ts'
import { headersFor } from '../../../api/clients.ts'
import { useClient } from '../../../api/session.ts'
import { publicUrl } from '../delivery.ts'

/** The original, for the comparison, the tools and the player. */
export interface Original {
  /** Undefined while it loads. */
  url: string | undefined
  /** In pixels, upright. */
  width: number | undefined
  height: number | undefined
}

// Formats of all browsers. A larger file is shown as a derivative.
const SHOWN = ['jpeg', 'png', 'webp', 'gif', 'avif', 'svg']
const MAX_BYTES = 15_000_000

/** The original, of a picture in a form that browsers show. */
export function useOriginal(file: FileWithDerivatives): Original {
  const { client, sluice } = useClient()
  const { data } = useQuery({
    queryKey: [client.id, 'playground', 'original', file.s3PathOriginal],
    staleTime: 5 * 60_000,
    queryFn: async ({ signal }) => {
      const isShown = file.mimeType !== 'image' || (SHOWN.includes(file.format) && file.size <= MAX_BYTES)
      const query = isShown ? '' : 'w=2000&h=2000&fit=inside&f=webp'
      const [url, information] = await Promise.all([
        publicUrl(sluice, { file, query, signal }),
        informationOf(file, { clientId: client.id, signal }),
      ])
      return { url: reachable(url), width: information?.width, height: information?.height }
    },
  })
  return { url: data?.url, width: data?.width, height: data?.height }
}

/** The size of the original. Undefined when the service cannot read it: the tools then use that of the shown picture. */
async function informationOf(
  file: FileWithDerivatives,
  { clientId, signal }: { clientId: string; signal: AbortSignal },
): Promise<FileInformation | undefined> {
  const url = reachable(file.src).replace(/(\/v1\/[a-z]+)\/upload\//, '$1/info/')
  const response = await fetch(url, { headers: headersFor(clientId), credentials: 'same-origin', signal })
  return response.ok ? await response.json() : undefined
}
