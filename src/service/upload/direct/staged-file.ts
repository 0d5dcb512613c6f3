import { Readable } from 'node:stream'
import type { Asset } from '../../../core/bytes/asset.ts'
import type { ObjectKey } from '../../../core/files/object-key.ts'
import { sniffDepth } from '../../../core/media/sniff/depth.ts'
import { type SniffedType, sniff } from '../../../core/media/sniff/sniff.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import { unavailable } from '../../../core/problem.ts'
import { takeHead } from '../incoming-bytes.ts'
import { notInBucket } from '../resumable/resumable-problems.ts'
import type { IncomingFile } from '../upload-request.ts'
import type { Patience } from './patience.ts'
import type { ReadObject } from './read-object.ts'

// The detected type is a part of the key, so every attempt must read the same number of bytes, however they arrive. A form's file
// usually arrives in chunks of this size too, and its type is detected from the whole chunk.
const HEAD_BYTES = 64 * 1024

/** Detects the type of an upload from its first bytes. */
export async function sniffStart(bytes: AsyncIterable<Buffer>, name: string): Promise<SniffedType> {
  const { head, rest } = await takeHead(bytes, HEAD_BYTES)
  await rest.return?.()
  return sniffHead(head, name)
}

function sniffHead(head: Buffer, name: string): Promise<SniffedType> {
  return sniff(head.subarray(0, Math.max(HEAD_BYTES, sniffDepth(head))), name)
}

/**
 * The file of a direct upload, which the client has put under a key of the first client. It is measured and checked there, and then
 * copied within the store. No client can change it any more: its parts are joined.
 *
 * @param options.staged.find the object, from the first client's bucket
 * @param options.bucket of the client. Where it cannot copy from the first client, the bytes pass through this process, once
 * @param options.patience for single requests
 * @param options.sniffed the type that the upload was detected to have. A file of another type is refused
 * @param options.verify compares the bytes with the digests that the client has stated
 */
export function stagedFile({
  name,
  staged,
  size,
  bucket,
  readObject,
  patience,
  sniffed,
  verify,
}: {
  name: string
  staged: { key: ObjectKey; bytes: AsyncIterable<Buffer>; find: () => Promise<Asset | undefined> }
  size: number
  bucket: Bucket
  readObject: ReadObject
  patience: Patience
  sniffed: SniffedType
  verify: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
}): IncomingFile {
  const { copyFromFirst } = bucket
  const checked = (bytes: AsyncIterable<Buffer>) =>
    Readable.from(verify(ofType(sniffed, { name, bytes })), { objectMode: false })
  if (!copyFromFirst) return { name, bytes: checked(staged.bytes) }
  let etag: string | undefined
  const reading = new AbortController()
  async function* ofStaged() {
    const object = await patience(staged.find)
    if (!object) throw lost()
    if (object.size !== size) throw replaced()
    etag = object.etag
    yield* readObject(object, reading.signal)
  }
  return {
    name,
    bytes: checked(ofStaged()),
    async put(key, bytes, options) {
      const { signal } = options
      const end = () => reading.abort(signal?.reason)
      signal?.addEventListener('abort', end, { once: true })
      try {
        signal?.throwIfAborted()
        // They are measured on their way.
        for await (const _ of bytes);
      } finally {
        signal?.removeEventListener('abort', end)
        bytes.destroy()
      }
      const known = etag === undefined ? {} : { known: { etag, size } }
      if (!(await copyFromFirst(staged.key, key, { ...options, ...known }))) throw lost()
      const copy = await patience(() => bucket.find(key, options))
      if (copy?.size !== size) throw replaced()
    },
  }
}

/** Passes bytes on if they have this type. @throws Problem 503 */
async function* ofType(
  { format, mediaType }: SniffedType,
  { name, bytes }: { name: string; bytes: AsyncIterable<Buffer> },
): AsyncGenerator<Buffer> {
  const { head, rest } = await takeHead(bytes, HEAD_BYTES)
  try {
    const now = await sniffHead(head, name)
    if (now.format.name !== format.name || now.mediaType !== mediaType) throw replaced()
    yield head
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

function lost(): Error {
  return notInBucket('The bucket does not have the file any more. Begin another upload.')
}

function replaced(): Error {
  return unavailable('The file in the bucket has changed while it was stored. Repeat the request.')
}
