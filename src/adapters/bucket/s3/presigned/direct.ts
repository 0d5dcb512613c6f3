import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { PermitOptions, PermittedPut, PutPart, PutPermit } from '../../../../core/ports/bucket.ts'
import { unlessStatus } from '../../../../core/problem.ts'
import type { S3Clients } from '../client.ts'
import { SILENCE_MS } from '../patience.ts'
import { confirmed } from '../transfer.ts'
import { COMPLETE_MS_PER_PART } from '../upload.ts'

const MIB = 1024 ** 2
// A client repeats this much when a request fails. An object of this size is put at once. S3 requires at least 5 MiB.
const PART_BYTES = 16 * MIB
// The limit of S3 is 10,000. Each URL has some 600 characters, and a response has the URLs of all parts.
const PARTS_MAX = 1000
// A browser would show the object as a page, if the bucket is public and the client could choose the type.
const CONTENT_TYPE = 'application/octet-stream'
const CHECKSUM = 'x-amz-checksum-sha256'

interface NamedObject {
  bucket: string
  name: string
}

/**
 * Signs the requests that put an object: one, or the parts of a multipart upload. The signatures cover key, length and type, and the
 * checksum of an object that is put at once.
 *
 * @throws Problem 503
 */
export async function permitPut(
  clients: S3Clients,
  { bucket, name, size, sha256, expiresInSeconds }: NamedObject & PermitOptions,
): Promise<PutPermit> {
  const object = { Bucket: bucket, Key: name }
  const { signer, calls, patience } = clients
  if (size <= PART_BYTES) {
    const command = new PutObjectCommand({
      ...object,
      ContentLength: size,
      ContentType: CONTENT_TYPE,
      ...(sha256 === undefined ? {} : { ChecksumSHA256: sha256 }),
    })
    const url = await getSignedUrl(signer, command, {
      expiresIn: expiresInSeconds,
      // In the query, not every store verifies it.
      unhoistableHeaders: new Set([CHECKSUM]),
      signableHeaders: new Set(['host', 'content-length', 'content-type', CHECKSUM]),
    })
    const headers = { 'Content-Type': CONTENT_TYPE, ...(sha256 === undefined ? {} : { [CHECKSUM]: sha256 }) }
    return { puts: [{ url, headers, start: 0, size }] }
  }
  const create = new CreateMultipartUploadCommand({ ...object, ContentType: CONTENT_TYPE })
  const { UploadId = '' } = await patience.responseOf((abortSignal) => calls.send(create, { abortSignal }), {
    withinMs: SILENCE_MS,
  })
  const partBytes = partBytesOf(size)
  const puts: PermittedPut[] = []
  for (let start = 0; start < size; start += partBytes) {
    const length = Math.min(partBytes, size - start)
    const part = { ...object, UploadId, PartNumber: puts.length + 1, ContentLength: length }
    const url = await getSignedUrl(signer, new UploadPartCommand(part), {
      expiresIn: expiresInSeconds,
      signableHeaders: new Set(['host', 'content-length']),
    })
    puts.push({ url, headers: {}, start, size: length })
  }
  return { uploadId: UploadId, puts }
}

/** The size of all parts but the last one: a multiple of 1 MiB. */
function partBytesOf(size: number): number {
  return Math.max(PART_BYTES, Math.ceil(size / PARTS_MAX / MIB) * MIB)
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
    for (const { PartNumber = 0, Size = 0, ETag = '' } of page?.Parts ?? [])
      parts.push({ number: PartNumber, size: Size, etag: ETag })
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
  const withinMs = SILENCE_MS + COMPLETE_MS_PER_PART * parts.length
  confirmed(await patience.responseOf((abortSignal) => calls.send(complete, { abortSignal }), { withinMs }))
}
