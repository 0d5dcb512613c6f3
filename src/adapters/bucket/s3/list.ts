import { type _Object, ListObjectsV2Command, type ListObjectsV2CommandInput } from '@aws-sdk/client-s3'
import type { S3Clients } from './client.ts'

/**
 * Yields all objects whose names begin with `prefix`, in byte order. Names that begin with `excluded` are skipped
 * in one step, without reading them.
 *
 * @param options.from where the list begins
 */
export async function* listObjects(
  clients: S3Clients,
  {
    bucket,
    prefix,
    excluded,
    from: start = {},
  }: { bucket: string; prefix: string; excluded?: string | undefined; from?: PageStart },
): AsyncGenerator<ObjectPage['objects'][number]> {
  let from: PageStart | undefined = start
  let passed = false
  while (from) {
    const page: ObjectPage = await listPage(clients, { bucket, prefix, from })
    from = page.next
    for (const object of page.objects) {
      if (excluded === undefined || !object.Key.startsWith(excluded)) yield object
      else if (from && !passed) {
        // The next character in there belongs to an ID of letters and digits, and "~" sorts after these.
        from = { StartAfter: `${excluded}~` }
        passed = true
        break
      }
    }
  }
}

/** Where a page of a list begins; empty for the first page. */
export type PageStart = Pick<ListObjectsV2CommandInput, 'ContinuationToken' | 'StartAfter'>

/** A page of objects with their decoded names. `next` is undefined at the end of the list. */
export interface ObjectPage {
  objects: Array<_Object & { Key: string }>
  next: PageStart | undefined
}

/** Reads one page of the objects whose names begin with `prefix`, in byte order. @throws Problem 503 */
export async function listPage(
  { calls, patience }: S3Clients,
  { bucket, prefix, from }: { bucket: string; prefix: string; from: PageStart },
): Promise<ObjectPage> {
  const command = new ListObjectsV2Command({
    Bucket: bucket,
    Prefix: prefix,
    // XML cannot represent every name that other programs may have put, and XML parsers may trim the spaces of a name.
    EncodingType: 'url',
    ...from,
  })
  const page = await patience.responseOf((abortSignal) => calls.send(command, { abortSignal }))
  return {
    objects: (page.Contents ?? []).map((object) => {
      const { Key = '' } = object
      return { ...object, Key: page.EncodingType === 'url' ? urlDecoded(Key) : Key }
    }),
    next: page.IsTruncated ? { ContinuationToken: page.NextContinuationToken } : undefined,
  }
}

/** An ETag without its quotes, which some stores omit. Undefined for a weak one. */
export function tagOf(etag: string | undefined): string | undefined {
  return /^"?([^"\\]+)"?$/.exec(etag ?? '')?.[1]
}

/** Amazon encodes a space as "+", other stores as "%20". A plus sign is "%2B" in all of them. */
function urlDecoded(name: string): string {
  return decodeURIComponent(name.replaceAll('+', ' '))
}
