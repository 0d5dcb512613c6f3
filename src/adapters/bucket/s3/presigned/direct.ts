import { setImmediate } from 'node:timers/promises'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { PermitOptions, PermittedPut, PutPart, PutPermit } from '../../../../core/ports/bucket.ts'
import { unlessStatus } from '../../../../core/problem.ts'
import { PART_BYTES, PUTS_MAX } from '../../../../core/storage/direct-parts.ts'
import type { S3Clients } from '../client.ts'
import { confirmed } from '../transfer.ts'
import { COMPLETE_MS_PER_PART } from '../upload.ts'

const MIB = 1024 ** 2
// The limit of S3.
const PARTS_MAX = 10_000
// Parts grow with the file up to this size, so that the first response has all of them: of files up to 100 GiB. At 10 MB/s, such a part
// takes a minute.
const LARGE_PART_BYTES = 512 * MIB
// A signature takes up to 2 ms of CPU time.
const SIGNED_AT_ONCE = 8
// A browser would show the object as a page, if the bucket is public and the client could choose the type.
const CONTENT_TYPE = 'application/octet-stream'

interface NamedObject {
  bucket: string
  name: string
}

/**
 * Begins a multipart upload, or continues one, and signs the requests that put its first missing parts: one or more. The signatures
 * cover key and length. A single PUT would make an object at once, and its URL could not be revoked: the parts are no object until they
 * are joined, and their URLs stop working when the upload is aborted.
 *
 * @throws Problem 503
 */
export async function permitPut(
  { signer, calls, patience }: S3Clients,
  {
    bucket,
    name,
    size,
    partBytes: least = PART_BYTES,
    putsMax = PUTS_MAX,
    expiresInSeconds,
    rest,
  }: NamedObject & PermitOptions,
): Promise<PutPermit> {
  // Loaded on first use: most installations sign no URLs.
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
  const object = { Bucket: bucket, Key: name }
  const { expiration } = await signer.config.credentials()
  async function begun(): Promise<string> {
    const create = new CreateMultipartUploadCommand({ ...object, ContentType: CONTENT_TYPE })
    const { UploadId = '' } = await patience.responseOf(
      (abortSignal) => calls.send(create, { abortSignal }),
      { withinMs: patience.silenceMs },
    )
    return UploadId
  }
  const uploadId = rest?.uploadId ?? (await begun())
  const received = new Map(rest?.received.map((part) => [part.number, part.size]))
  const partBytes = partBytesOf(size, least)
  const puts: PermittedPut[] = []
  let missingBytes = 0
  for (let start = 0, number = 1; start < size; start += partBytes, number += 1) {
    const length = Math.min(partBytes, size - start)
    if (received.get(number) === length) continue
    missingBytes += length
    if (puts.length === putsMax) continue
    const part = { ...object, UploadId: uploadId, PartNumber: number, ContentLength: length }
    const url = await getSignedUrl(signer, new UploadPartCommand(part), {
      expiresIn: expiresInSeconds,
      signableHeaders: new Set(['host', 'content-length']),
    })
    puts.push({ url, headers: {}, start, size: length })
    // Other requests are handled in between.
    if (puts.length % SIGNED_AT_ONCE === 0) await setImmediate()
  }
  const until = Date.now() + 1000 * expiresInSeconds
  return { uploadId, puts, missingBytes, until: Math.min(until, expiration?.getTime() ?? until) }
}

/**
 * The size of all parts but the last one, in bytes: a multiple of 1 MiB. A file of up to 5 TiB has at most 10,000 parts of at most
 * 525 MiB.
 *
 * @param least a multiple of 1 MiB
 */
export function partBytesOf(size: number, least: number = PART_BYTES): number {
  const oneOf = (parts: number) => Math.ceil(size / parts / MIB) * MIB
  return Math.max(least, Math.min(oneOf(PUTS_MAX), LARGE_PART_BYTES), oneOf(PARTS_MAX))
}

/** The received parts of a multipart upload, in order. Empty when it does not exist. @throws Problem 503 */
export async function partsOf(
  { calls, patience }: S3Clients,
  { bucket, name, uploadId }: NamedObject & { uploadId: string },
): Promise<PutPart[]> {
  const parts: PutPart[] = []
  let after: { PartNumberMarker?: string | undefined } | undefined = {}
  while (after) {
    const list: ListPartsCommand = new ListPartsCommand({
      Bucket: bucket,
      Key: name,
      UploadId: uploadId,
      ...after,
    })
    const page = await unlessStatus(
      404,
      patience
        .responseOf((abortSignal) => calls.send(list, { abortSignal }))
        .catch((error) => {
          if ((error.cause as Error | undefined)?.name === 'NoSuchUpload') return undefined
          throw error
        }),
    )
    for (const { PartNumber = 0, Size = 0, ETag = '', LastModified } of page?.Parts ?? [])
      parts.push({ number: PartNumber, size: Size, etag: ETag, at: LastModified?.getTime() ?? 0 })
    after = page?.IsTruncated ? { PartNumberMarker: page.NextPartNumberMarker } : undefined
  }
  return parts
}

/** Completes a multipart upload. An outage can leave unknown whether the object exists. @throws Problem 503 */
export async function joinParts(
  { calls, patience }: S3Clients,
  { bucket, name, uploadId, parts }: NamedObject & { uploadId: string; parts: readonly PutPart[] },
): Promise<void> {
  const complete = new CompleteMultipartUploadCommand({
    Bucket: bucket,
    Key: name,
    UploadId: uploadId,
    MultipartUpload: { Parts: parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })) },
  })
  const withinMs = patience.silenceMs + COMPLETE_MS_PER_PART * parts.length
  confirmed(await patience.responseOf((abortSignal) => calls.send(complete, { abortSignal }), { withinMs }))
}
