import { Readable } from 'node:stream'
import type { ObjectKey } from '../../../core/files/object-key.ts'
import { sniffDepth } from '../../../core/media/sniff/depth.ts'
import { type SniffedType, sniff } from '../../../core/media/sniff/sniff.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import { unavailable } from '../../../core/problem.ts'
import { takeHead } from '../incoming-bytes.ts'
import { notInBucket } from '../resumable-problems.ts'
import type { IncomingFile } from '../upload-request.ts'
import { readObject } from './read-object.ts'

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
 * The file of a direct upload, which the client has put under a key of the first client. Its URL lets the client replace these bytes
 * at any time. So they are copied within the store first, and only the copy is measured and checked: no client can change that.
 *
 * @param options.bucket of the client. Where it cannot copy from the first client, the bytes pass through this process, once
 * @param options.sniffed the type that the upload was detected to have. A copy of another type is refused
 * @param options.verify compares the bytes with the digests that the client has stated
 */
export function stagedFile({
  name,
  staged,
  size,
  bucket,
  sniffed,
  verify,
}: {
  name: string
  staged: { key: ObjectKey; bytes: AsyncIterable<Buffer> }
  size: number
  bucket: Bucket
  sniffed: SniffedType
  verify: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
}): IncomingFile {
  const { copyFromFirst } = bucket
  const checked = (bytes: AsyncIterable<Buffer>) =>
    Readable.from(verify(ofType(sniffed, { name, bytes })), { objectMode: false })
  if (!copyFromFirst) return { name, bytes: checked(staged.bytes) }
  let copied: AsyncIterable<Buffer> | undefined
  async function* ofCopy() {
    if (!copied) throw new Error('the bytes are read before they are copied')
    yield* copied
  }
  return {
    name,
    bytes: checked(ofCopy()),
    async put(key, bytes, options) {
      try {
        if (!(await copyFromFirst(staged.key, key, options)))
          throw notInBucket('The bucket does not have the file any more. Begin another upload.')
        const copy = await bucket.find(key, options)
        if (copy?.size !== size) throw replaced()
        copied = readObject(copy, { signal: options.signal })
      } catch (error) {
        bytes.destroy()
        throw error
      }
      // They are measured on their way.
      for await (const _ of bytes);
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

function replaced(): Error {
  return unavailable(
    'The client has replaced the file in the bucket while it was stored. Repeat the request.',
  )
}
