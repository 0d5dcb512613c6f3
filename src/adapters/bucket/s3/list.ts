import { ListObjectsV2Command, type ListObjectsV2CommandInput } from '@aws-sdk/client-s3'
import type { S3Clients } from './client.ts'

/**
 * The names of all objects that begin with `prefix`, in the order of their bytes; those that begin with `excluded` are
 * skipped without being read, whatever their number.
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
      // XML cannot say every name that others may have put, and its readers may trim the spaces of one.
      EncodingType: 'url',
      ...from,
    })
    const page = await patience.answered((abortSignal) => calls.send(command, { abortSignal }))
    from = page.IsTruncated ? { ContinuationToken: page.NextContinuationToken } : undefined
    for (const { Key = '' } of page.Contents ?? []) {
      const name = page.EncodingType === 'url' ? urlDecoded(Key) : Key
      if (excluded === undefined || !name.startsWith(excluded)) yield name
      else if (from && !passed) {
        // What follows in there is an id of letters and digits, and "~" comes after these.
        from = { StartAfter: `${excluded}~` }
        passed = true
        break
      }
    }
  }
}

/** Amazon writes a space as "+", others as "%20"; a plus is "%2B" to all. */
function urlDecoded(name: string): string {
  return decodeURIComponent(name.replaceAll('+', ' '))
}
