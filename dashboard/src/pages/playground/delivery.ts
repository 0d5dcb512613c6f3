import { buildUrl, type ListedFile, type SluiceClient } from '../../../../client/index.ts'
import { reachable } from '../../api/base.ts'

/** A file, as far as its delivery URL needs it. */
export type Delivered = Pick<ListedFile, 'src' | 'srcExpires'>

// As the service appends it to `src`.
const SIGNATURE = /[?&]s=\d{1,9}\.[\w-]{43}(?:$|[?&])/

/** Whether the URLs of a file are valid only with a signature. */
export function needsSignature({ src, srcExpires }: Delivered): boolean {
  return srcExpires !== undefined || SIGNATURE.test(src)
}

/** The public URL of a file with parameters, signed if necessary. */
export async function publicUrl(
  sluice: SluiceClient,
  { file, query, signal }: { file: Delivered; query: string; signal: AbortSignal },
): Promise<string> {
  const url = buildUrl(file, query)
  if (!needsSignature(file) || query === '') return url
  return sluice.urls.sign(url, { expiresIn: 3600, signal })
}

/** URLs that this page can load, for several files. */
export async function shownUrls(
  sluice: SluiceClient,
  { files, query, signal }: { files: readonly Delivered[]; query: string; signal: AbortSignal },
): Promise<Map<Delivered, string>> {
  const signed = files.filter(needsSignature)
  const urls = signed.map((file) => buildUrl(file, query))
  const results = urls.length > 0 ? await sluice.urls.sign(urls, { expiresIn: 3600, signal }) : []
  const bySigned = new Map(signed.map((file, i) => [file, results[i] ?? file.src]))
  return new Map(files.map((file) => [file, reachable(bySigned.get(file) ?? buildUrl(file, query))]))
}
