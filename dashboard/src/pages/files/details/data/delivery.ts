import { useQuery } from '@tanstack/react-query'
import { withoutSignature } from '../../../../../../client/delivery/build-url.ts'
import {
  buildUrl,
  type ListedFile,
  type SluiceClient,
  type TransformParameters,
} from '../../../../../../client/index.ts'
import { reachable } from '../../../../api/base.ts'
import { useClient } from '../../../../api/session.ts'

type Source = Pick<ListedFile, 'src' | 's3PathOriginal'>

// Signed URLs of previews. A player may request parts of a video for hours.
const SIGNED_SECONDS = 6 * 3600
const FRESH_MS = 3600_000

/** Whether delivery URLs of a file need a signature. */
export function isSigned({ src }: Pick<ListedFile, 'src'>): boolean {
  return withoutSignature(src) !== src
}

/** The public URL of a file with parameters, without a signature. */
export function unsignedUrl({ src }: Source, parameters: TransformParameters | string): string {
  return buildUrl(withoutSignature(src), parameters)
}

/** The public URLs of a file with parameters, signed if necessary. */
export async function publicUrls(
  sluice: SluiceClient,
  file: Source,
  wanted: ReadonlyArray<TransformParameters | string>,
  options: { expiresIn?: number; signal?: AbortSignal | undefined } = {},
): Promise<string[]> {
  const urls = wanted.map((parameters) => unsignedUrl(file, parameters))
  return isSigned(file) ? sluice.urls.sign(urls, options) : urls
}

/** The URLs of a file with parameters, as this page can load them. Undefined until they are signed, if that is necessary. */
export function useDelivery(
  file: Source,
  wanted: readonly string[],
): { urls: readonly string[] | undefined; error: unknown } {
  const { client, sluice } = useClient()
  const needsSignature = isSigned(file)
  const { data, error } = useQuery({
    queryKey: [client.id, 'file', file.s3PathOriginal, 'signed', ...wanted],
    queryFn: ({ signal }) => publicUrls(sluice, file, wanted, { expiresIn: SIGNED_SECONDS, signal }),
    staleTime: FRESH_MS,
    enabled: needsSignature,
  })
  const urls = needsSignature ? data : wanted.map((parameters) => buildUrl(file, parameters))
  return { urls: urls?.map(reachable), error }
}

/** The URL of the properties of a file. */
export async function infoUrl(sluice: SluiceClient, file: Source): Promise<string> {
  const info = `${withoutSignature(file.src).replace(/(\/v1\/[a-z]+)\/[a-z]+\//, '$1/info/')}?location`
  return reachable(isSigned(file) ? await sluice.urls.sign(info, { expiresIn: SIGNED_SECONDS }) : info)
}
