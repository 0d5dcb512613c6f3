import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  S3ServiceException,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import { patiently } from '../../../core/async/patiently.ts'
import { encodedPath } from '../../../core/files/object-key.ts'
import { isDownloadedFromBucket } from '../../../core/media/formats.ts'
import type { CopyOptions } from '../../../core/ports/bucket.ts'
import { Problem, unlessStatus } from '../../../core/problem.ts'
import type { S3Clients } from './client.ts'
import { confirmed } from './transfer.ts'

const MIB = 1024 * 1024
// S3 copies at most 5 GiB in one request. Smaller parts are copied at the same time, and each request stays short. From 1.2 TiB on,
// the parts are larger: S3 accepts 10,000.
const PART_BYTES = 128 * MIB
const PARTS_MAX = 10_000
const PARTS_AT_ONCE = 4
// S3 responds when all bytes are copied: this allows for 4 MiB/s.
const COPY_MS = 30_000
// S3 copies some 100 MB/s per part, so 5 TiB take two hours. A copy that takes so long must survive a short outage: its requests are
// tried for a minute.
const LONG_BYTES = 8 * 1024 * MIB
const LONG_PARTS_AT_ONCE = 8
const LONG_TRIES = 7
const RETRY_MS = 1000
const COMPLETE_MS_PER_PART = 20

/** An object to copy within a bucket. */
export interface CopyRequest {
  bucket: string
  /** Names of objects. */
  from: string
  to: string
  mediaType: string
  known?: CopyOptions['known']
  /** Objects that are larger are copied in parts of this size, or more for 10,000 parts. S3 requires at least 5 MiB. Default: 128 MiB. */
  partBytes?: number
  /** From this size on, requests are tried for a minute, and more parts are copied at the same time. Default: 8 GiB. */
  longBytes?: number
  /** The pause before the second try of a part, in milliseconds. Each further one is twice as long. Default: 1000. */
  retryMs?: number
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
  { bucket, from, to, mediaType, known, partBytes = PART_BYTES, signal, ...long }: CopyRequest,
): Promise<boolean> {
  const found = known ?? (await find(clients, { Bucket: bucket, Key: from }, signal))
  if (!found) return false
  const { etag, size } = found
  const target = { Bucket: bucket, Key: to, ...propertiesOf(mediaType) }
  const source = { CopySource: `${bucket}/${encodedPath(from)}`, CopySourceIfMatch: etag }
  const copied =
    size <= partBytes
      ? copyAtOnce(clients, { ...target, ...source }, signal)
      : copyParts(clients, { target, source, size, partBytes: partBytesOf(size, partBytes), signal, ...long })
  return (
    (await unlessStatus(
      404,
      copied.then(() => true),
    )) ?? false
  )
}

async function find(
  { calls, patience }: S3Clients,
  object: { Bucket: string; Key: string },
  signal?: AbortSignal,
): Promise<{ etag: string | undefined; size: number } | undefined> {
  const send = (abortSignal: AbortSignal) => calls.send(new HeadObjectCommand(object), { abortSignal })
  const head = await unlessStatus(404, patience.responseOf(send, { signal }))
  return head && { etag: head.ETag, size: head.ContentLength ?? 0 }
}

async function copyAtOnce(
  { copies, patience }: S3Clients,
  input: Omit<CopyObjectCommand['input'], 'MetadataDirective'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Replaced by the same properties, as for an upload: the source may be from an earlier version.
  const command = new CopyObjectCommand({ ...input, MetadataDirective: 'REPLACE' })
  const send = (abortSignal: AbortSignal) => copies.send(command, { abortSignal })
  const { CopyObjectResult } = await patience.responseOf(send, { withinMs: COPY_MS, signal })
  confirmed(CopyObjectResult ?? {})
}

async function copyParts(
  clients: S3Clients,
  {
    target,
    source,
    size,
    partBytes,
    signal,
    longBytes = LONG_BYTES,
    retryMs = RETRY_MS,
  }: {
    target: { Bucket: string; Key: string }
    source: Pick<UploadPartCopyCommand['input'], 'CopySource' | 'CopySourceIfMatch'>
    size: number
    partBytes: number
    signal: AbortSignal | undefined
  } & Pick<CopyRequest, 'longBytes' | 'retryMs'>,
): Promise<void> {
  const { calls, copies, patience } = clients
  const { Bucket, Key } = target
  const create = new CreateMultipartUploadCommand(target)
  const ranges = rangesOf(size, partBytes)
  const isLong = size >= longBytes
  const tried = { tries: isLong ? LONG_TRIES : 1, retryMs, signal, isFinal: isRefusal }
  const { UploadId } = await patiently(
    () => patience.responseOf((abortSignal) => calls.send(create, { abortSignal }), { signal }),
    tried,
  )
  const upload = { Bucket, Key, UploadId }
  const copyMs = COPY_MS * Math.max(1, partBytes / PART_BYTES)
  try {
    const copyPart = async ({ range, number }: { range: string; number: number }) => {
      const part = { ...upload, ...source, PartNumber: number, CopySourceRange: range }
      const send = (abortSignal: AbortSignal) => copies.send(new UploadPartCopyCommand(part), { abortSignal })
      const ask = () => patience.responseOf(send, { withinMs: copyMs, signal })
      const { CopyPartResult } = await patiently(ask, tried)
      return { PartNumber: number, ETag: confirmed(CopyPartResult ?? {}).ETag }
    }
    const Parts: Array<{ PartNumber: number; ETag: string | undefined }> = []
    const concurrency = isLong ? LONG_PARTS_AT_ONCE : PARTS_AT_ONCE
    const numbered = ranges.map((range, i) => ({ range, number: i + 1 }))
    for await (const part of mapConcurrent(numbered, { concurrency, work: copyPart })) Parts.push(part)
    const command = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } })
    const withinMs = patience.silenceMs + COMPLETE_MS_PER_PART * Parts.length
    // Without the signal, which only ends further tries: an interrupted request would leave it unknown whether the object exists.
    const send = (abortSignal: AbortSignal) => calls.send(command, { abortSignal })
    const complete = async () => {
      try {
        confirmed(await patience.responseOf(send, { withinMs }))
      } catch (error) {
        // If the object exists, the response to an earlier try was lost, perhaps to one of the SDK.
        if (!isNoUpload(error) || (await find(clients, { Bucket, Key }))?.size !== size) throw error
      }
    }
    await patiently(complete, tried)
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

/** The size of all parts but the last one, in bytes: at least `least`. */
export function partBytesOf(size: number, least: number = PART_BYTES): number {
  return Math.max(least, Math.ceil(size / PARTS_MAX / MIB) * MIB)
}

/** Whether S3 refuses a request: a repetition would be in vain. */
function isRefusal(error: unknown): boolean {
  if (error instanceof Problem && error.status < 500) return true
  const { cause } = error as Error
  const status = cause instanceof S3ServiceException ? (cause.$metadata.httpStatusCode ?? 500) : 500
  return status < 500 && status !== 408 && status !== 429
}

function isNoUpload(error: unknown): boolean {
  const { cause } = error as Error
  return cause instanceof Error && cause.name === 'NoSuchUpload'
}

function rangesOf(size: number, partBytes: number): string[] {
  const ranges: string[] = []
  for (let start = 0; start < size; start += partBytes)
    ranges.push(`bytes=${start}-${Math.min(size, start + partBytes) - 1}`)
  return ranges
}
