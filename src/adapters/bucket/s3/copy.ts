import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import { encodedPath } from '../../../core/files/object-key.ts'
import { isDownloadedFromBucket } from '../../../core/media/formats.ts'
import { unlessStatus } from '../../../core/problem.ts'
import type { S3Clients } from './client.ts'
import { SILENCE_MS } from './patience.ts'
import { confirmed } from './transfer.ts'

// S3 copies at most 5 GiB in one request. Smaller parts are copied at the same time, and each request stays short. With 10,000
// parts, this reaches far beyond the largest upload.
const PART_BYTES = 128 * 1024 * 1024
const PARTS_AT_ONCE = 4
// S3 responds when all bytes are copied: this allows for 4 MiB/s.
const COPY_MS = 30_000
const COMPLETE_MS_PER_PART = 20

/** An object to copy within a bucket. */
export interface CopyRequest {
  bucket: string
  /** Names of objects. */
  from: string
  to: string
  mediaType: string
  /** Objects that are larger are copied in parts of this size. S3 requires at least 5 MiB. */
  partBytes?: number
  signal?: AbortSignal | undefined
}

/**
 * Copies an object within S3, without a transfer of its bytes. In parts, the copy appears when all parts are copied, and an
 * incomplete one is aborted before this rejects.
 *
 * @returns false when the object does not exist
 * @throws Problem 503; `signal.reason`
 */
export async function copyObject(
  clients: S3Clients,
  { bucket, from, to, mediaType, partBytes = PART_BYTES, signal }: CopyRequest,
): Promise<boolean> {
  const { calls, patience } = clients
  const find = new HeadObjectCommand({ Bucket: bucket, Key: from })
  const head = await unlessStatus(
    404,
    patience.responseOf((abortSignal) => calls.send(find, { abortSignal }), { signal }),
  )
  if (!head) return false
  const target = { Bucket: bucket, Key: to, ...propertiesOf(mediaType) }
  const source = { CopySource: `${bucket}/${encodedPath(from)}`, CopySourceIfMatch: head.ETag }
  const size = head.ContentLength ?? 0
  const copied =
    size <= partBytes
      ? copyAtOnce(clients, { ...target, ...source }, signal)
      : copyParts(clients, { target, source, ranges: rangesOf(size, partBytes), signal })
  return (
    (await unlessStatus(
      404,
      copied.then(() => true),
    )) ?? false
  )
}

async function copyAtOnce(
  { calls, patience }: S3Clients,
  input: Omit<CopyObjectCommand['input'], 'MetadataDirective'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Replaced by the same properties, as for an upload: the source may be from an earlier version.
  const command = new CopyObjectCommand({ ...input, MetadataDirective: 'REPLACE' })
  const send = (abortSignal: AbortSignal) => calls.send(command, { abortSignal })
  const { CopyObjectResult } = await patience.responseOf(send, { withinMs: COPY_MS, signal })
  confirmed(CopyObjectResult ?? {})
}

async function copyParts(
  { calls, patience }: S3Clients,
  {
    target,
    source,
    ranges,
    signal,
  }: {
    target: { Bucket: string; Key: string }
    source: Pick<UploadPartCopyCommand['input'], 'CopySource' | 'CopySourceIfMatch'>
    ranges: readonly string[]
    signal: AbortSignal | undefined
  },
): Promise<void> {
  const { Bucket, Key } = target
  const create = new CreateMultipartUploadCommand(target)
  const { UploadId } = await patience.responseOf((abortSignal) => calls.send(create, { abortSignal }), {
    signal,
  })
  const upload = { Bucket, Key, UploadId }
  try {
    const copyPart = async ({ range, number }: { range: string; number: number }) => {
      const part = { ...upload, ...source, PartNumber: number, CopySourceRange: range }
      const send = (abortSignal: AbortSignal) => calls.send(new UploadPartCopyCommand(part), { abortSignal })
      const { CopyPartResult } = await patience.responseOf(send, { withinMs: COPY_MS, signal })
      return { PartNumber: number, ETag: confirmed(CopyPartResult ?? {}).ETag }
    }
    const Parts: Array<{ PartNumber: number; ETag: string | undefined }> = []
    const numbered = ranges.map((range, i) => ({ range, number: i + 1 }))
    for await (const part of mapConcurrent(numbered, { concurrency: PARTS_AT_ONCE, work: copyPart }))
      Parts.push(part)
    const complete = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } })
    const withinMs = SILENCE_MS + COMPLETE_MS_PER_PART * Parts.length
    // Without the signal: an interrupted request would leave it unknown whether the object exists.
    const send = (abortSignal: AbortSignal) => calls.send(complete, { abortSignal })
    confirmed(await patience.responseOf(send, { withinMs }))
  } catch (error) {
    // A failure is left to the sweep of old uploads.
    const abort = new AbortMultipartUploadCommand(upload)
    await patience.responseOf((abortSignal) => calls.send(abort, { abortSignal })).catch(() => {})
    throw error
  }
}

/** As an upload sets them, see `upload.ts`. */
function propertiesOf(mediaType: string): { ContentType: string; ContentDisposition?: string } {
  return {
    ContentType: mediaType,
    ...(isDownloadedFromBucket(mediaType) ? { ContentDisposition: 'attachment' } : {}),
  }
}

function rangesOf(size: number, partBytes: number): string[] {
  const ranges: string[] = []
  for (let start = 0; start < size; start += partBytes)
    ranges.push(`bytes=${start}-${Math.min(size, start + partBytes) - 1}`)
  return ranges
}
