import { ListObjectsV2Command, type ListObjectsV2CommandInput } from '@aws-sdk/client-s3'
import type { S3Clients } from './client.ts'

/**
 * Yields the names of all objects that begin with `prefix`, in byte order. Names that begin with `excluded` are skipped
 * in one step, without reading them.
 */
export async function* listNames(
  { calls, patience }: S3Clients,
  { bucket, prefix, excluded }: { bucket: string; prefix: string; excluded?: string | undefined },
): AsyncGenerator<string> {
  let from: Partial<ListObjectsV2CommandInput> | undefined = {}
  let passed = false
  while (from) {
    const command: ListObjectsV2Command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      // XML cannot represent every name that other programs may have put, and XML parsers may trim the spaces of a name.
      EncodingType: 'url',
      ...from,
    })
    const page = await patience.responseOf((abortSignal) => calls.send(command, { abortSignal }))
    from = page.IsTruncated ? { ContinuationToken: page.NextContinuationToken } : undefined
    for (const { Key = '' } of page.Contents ?? []) {
      const name = page.EncodingType === 'url' ? urlDecoded(Key) : Key
      if (excluded === undefined || !name.startsWith(excluded)) yield name
      else if (from && !passed) {
        // The next character in there belongs to an ID of letters and digits, and "~" sorts after these.
        from = { StartAfter: `${excluded}~` }
        passed = true
        break
      }
    }
  }
}

/** Amazon encodes a space as "+", other stores as "%20". A plus sign is "%2B" in all of them. */
function urlDecoded(name: string): string {
  return decodeURIComponent(name.replaceAll('+', ' '))
}
