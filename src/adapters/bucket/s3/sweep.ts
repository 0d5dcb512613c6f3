import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import { parseKey } from '../../../core/files/object-key.ts'
import { resumableMeaning } from '../../../core/files/resumable-key.ts'
import type { Problem } from '../../../core/problem.ts'
import type { S3Clients } from './client.ts'
import { rootAround } from './root.ts'

/**
 * Aborts the multipart uploads that were begun more than `olderThanMs` ago under a key of ours and have not ended: those
 * of killed processes and of outages. Nobody sees them, and their parts are paid for. Other programs' stay.
 *
 * @param prefix of the first client's root
 * @param within the beginning of the names that are looked at
 * @returns how many
 */
export async function abortUploads(
  { calls, patience }: S3Clients,
  {
    bucket,
    prefix,
    within = prefix,
    olderThanMs,
  }: { bucket: string; prefix: string; within?: string; olderThanMs: number },
): Promise<number> {
  const begunBefore = Date.now() - olderThanMs
  let aborted = 0
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
  while (from) {
    // Without EncodingType: Ceph encodes the keys then and does not say so. Our keys need none.
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
      Bucket: bucket,
      Prefix: within,
      ...from,
    })
    const page = await patience.answered((abortSignal) => calls.send(list, { abortSignal }))
    for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
      const key = rootAround(Key, prefix).keyOf(Key) ?? ''
      const ours = (parseKey(key) ?? resumableMeaning(key)) !== undefined
      if (!ours || !Initiated || Initiated.getTime() > begunBefore) continue
      const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })
      aborted += await patience
        .answered((abortSignal) => calls.send(abort, { abortSignal }))
        .then(() => 1, noneIfGone)
    }
    from = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      : undefined
  }
  return aborted
}

/** Another process sweeps, too. */
function noneIfGone(error: Problem): number {
  if ((error.cause as Error).name === 'NoSuchUpload') return 0
  throw error
}
