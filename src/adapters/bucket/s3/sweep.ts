import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import { isOfBackup } from '../../../core/backup/place.ts'
import { parseKey } from '../../../core/files/object-key.ts'
import { resumableMeaning } from '../../../core/files/resumable-key.ts'
import type { SweepOptions } from '../../../core/ports/bucket.ts'
import type { Problem } from '../../../core/problem.ts'
import type { S3Clients } from './client.ts'
import { rootAround } from './root.ts'

/**
 * Aborts incomplete multipart uploads to our keys that were begun more than `olderThanMs` ago. They come from killed
 * processes and outages. They are invisible, but their parts cost money. Uploads of other programs are not touched.
 *
 * @param options.prefix of the root of the first client
 * @param options.within the prefix of the names to look at
 * @param options.continues whether an upload to this key is not abandoned, however old it is
 * @returns the number of aborted uploads
 */
export async function abortUploads(
  { calls, patience }: S3Clients,
  {
    bucket,
    prefix,
    within = prefix,
    olderThanMs,
    continues,
  }: {
    bucket: string
    prefix: string
    within?: string
    olderThanMs: number
    continues?: SweepOptions['continues'] | undefined
  },
): Promise<number> {
  const begunBefore = Date.now() - olderThanMs
  let aborted = 0
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
  while (from) {
    // Without EncodingType: with it, Ceph encodes the keys but does not say so in the response. Our keys need no encoding.
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
      Bucket: bucket,
      Prefix: within,
      ...from,
    })
    const page = await patience.responseOf((abortSignal) => calls.send(list, { abortSignal }))
    for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
      const key = rootAround(Key, prefix).keyOf(Key) ?? ''
      const ours = (parseKey(key) ?? resumableMeaning(key)) !== undefined || isOfBackup(key)
      if (!ours || !Initiated || Initiated.getTime() > begunBefore) continue
      if (await continues?.(key)) continue
      const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })
      aborted += await patience
        .responseOf((abortSignal) => calls.send(abort, { abortSignal }))
        .then(() => 1, zeroIfMissing)
    }
    from = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      : undefined
  }
  return aborted
}

/** Another process may have aborted the upload already. */
function zeroIfMissing(error: Problem): number {
  if ((error.cause as Error).name === 'NoSuchUpload') return 0
  throw error
}
