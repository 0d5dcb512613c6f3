import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { readAll } from '../../../core/bytes/asset.ts'
import { digestMismatch } from '../../../core/bytes/expected-digests.ts'
import {
  type ResumablePiece,
  type ResumableRef,
  resumableMeaning,
  resumablePiece,
  resumablePiecesOf,
} from '../../../core/files/resumable-key.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import { Problem, unavailable } from '../../../core/problem.ts'
import { deleteAll } from '../../originals/delete-objects.ts'

/** The digest of a request's body. */
export interface Checksum {
  /** The header that states it. */
  header: string
  algorithm: ChecksumAlgorithm
  digest: Buffer
  /** The number of bytes that the digest covers. */
  length: number
}

/** The header of tus with a checksum. */
export const TUS_CHECKSUM = 'Upload-Checksum'
export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'sha512', 'md5'] as const
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number]

/** The received bytes of resumable uploads, stored as pieces in the bucket. */
export interface ResumablePieces {
  /** The pieces of an upload in order. Pieces of a repeated request may overlap; the bytes are the same there. */
  list(ref: ResumableRef): Promise<ResumablePiece[]>
  /**
   * Stores the bytes from `offset` on. Stored pieces remain when the stream fails or the process dies.
   * @param check called before each piece is stored; throws when the upload is not allowed any more
   * @returns the offset of the next byte
   */
  append(ref: ResumableRef, options: AppendOptions): Promise<number>
  /**
   * As `append`, but stores all bytes or nothing.
   * @throws Problem 460 when the bytes do not match the checksum or their number; 400 when that is in a header of HTTP
   */
  appendChecked(ref: ResumableRef, options: AppendOptions & { checksum: Checksum }): Promise<number>
  /**
   * All bytes of an upload of this size, piece by piece.
   * @param options.parts the uploads that have its bytes, when it joins others
   * @throws Problem 503 when a piece is missing
   */
  join(ref: ResumableRef, options: JoinOptions): AsyncGenerator<Buffer>
  /** @throws Problem 503 */
  delete(ref: ResumableRef): Promise<void>
}

/** An upload that another one joins with others. */
export interface UploadPart {
  id: string
  /** In bytes. */
  size: number
}

export interface JoinOptions {
  size: number
  parts?: readonly UploadPart[] | undefined
  signal: AbortSignal
}

export interface AppendOptions {
  offset: number
  bytes: Readable
  check: () => Promise<void>
}

// A piece is in memory until it is stored. On S3 it is smaller than a part: a single PUT leaves no incomplete multipart upload.
const PIECE_BYTES = 8_000_000
// Limit for all uploads of this process. With more than eight uploads at a time the pieces become smaller, down to the minimum.
const HELD_BYTES = 64_000_000
const PIECE_MIN_BYTES = 1_200_000
// A piece of a slow client is stored after this time, so that a killed process loses at most 10 s of its bytes.
const PIECE_MS = 10_000
// A small last piece is read and stored again together with the following bytes. So a client that sends tiny requests leaves few
// objects: about 1000 for 64 MiB, 4000 for 1 GiB. At most a thousandth of the received bytes is stored again, and at least 64 KiB,
// so that each request stays cheap.
const SMALL_MIN_BYTES = 64 * 1024
const SMALL_MAX_BYTES = 1024 ** 2
const smallBytes = (offset: number) => Math.min(SMALL_MAX_BYTES, Math.max(SMALL_MIN_BYTES, offset / 1000))

/** The number of bytes from the start that the pieces hold without a gap. @param pieces in order */
export function offsetOf(pieces: readonly ResumablePiece[]): number {
  return pieces.reduce((offset, { start, end }) => (start <= offset && end > offset ? end : offset), 0)
}

/** @param bucket the first client's bucket, which holds the pieces of all clients */
export function createResumablePieces(bucket: Bucket): ResumablePieces {
  const list: ResumablePieces['list'] = async (ref) => {
    const pieces: ResumablePiece[] = []
    for await (const key of bucket.list(resumablePiecesOf(ref))) {
      const piece = resumableMeaning(key)?.piece
      if (piece) pieces.push(piece)
    }
    return pieces.sort((one, other) => one.start - other.start || one.end - other.end)
  }

  let appending = 0
  const isFull = (bytes: number) =>
    bytes >= Math.max(PIECE_MIN_BYTES, Math.min(PIECE_BYTES, HELD_BYTES / appending))

  async function put(ref: ResumableRef, bytes: { start: number; end: number }, source: Readable) {
    const { key } = resumablePiece(ref, bytes)
    await bucket.put(key, source, { mediaType: 'application/octet-stream' })
  }

  /** The last piece with its bytes, if it is small. */
  async function smallTail(ref: ResumableRef, offset: number) {
    const tail = (await list(ref)).find(
      ({ start, end }) => end === offset && end - start < smallBytes(offset),
    )
    const asset = tail && (await bucket.find(tail.key))
    return asset && { tail, bytes: await readAll(asset) }
  }

  const append: ResumablePieces['append'] = async (ref, { offset, bytes, check }) => {
    let before = await smallTail(ref, offset)
    let start = before ? before.tail.start : offset
    let chunks: Buffer[] = before ? [before.bytes] : []
    let end = offset
    let begunAt = performance.now()
    const keep = async () => {
      if (end > Math.max(start, offset)) {
        await check()
        await put(ref, { start, end }, Readable.from(chunks, { objectMode: false }))
        // The new piece contains the bytes of the previous one.
        if (before) await bucket.delete([before.tail.key])
      }
      before = undefined
      start = end
      chunks = []
      begunAt = performance.now()
    }
    let failed: Awaited<ReturnType<typeof eachChunk>>
    appending += 1
    try {
      failed = await eachChunk(bytes, async (chunk) => {
        chunks.push(chunk)
        end += chunk.length
        if (isFull(end - start) || performance.now() - begunAt > PIECE_MS) await keep()
      })
      await keep()
    } finally {
      appending -= 1
    }
    if (failed) throw failed.error
    return end
  }

  return {
    list,
    append,

    async appendChecked(ref, { offset, bytes, check, checksum }) {
      const end = offset + checksum.length
      async function* checked() {
        const hash = createHash(checksum.algorithm)
        let length = 0
        for await (const chunk of bytes) {
          hash.update(chunk)
          length += chunk.length
          yield chunk
        }
        if (length !== checksum.length || !hash.digest().equals(checksum.digest))
          throw checksum.header === TUS_CHECKSUM ? checksumMismatch() : digestMismatch(checksum.header)
      }
      await check()
      const source = Readable.from(checked(), { objectMode: false })
      // All bytes are verified before any is stored, so they can be merged with the previous piece.
      if (checksum.length < smallBytes(offset)) {
        const whole = Buffer.concat(await source.toArray())
        return append(ref, { offset, bytes: Readable.from([whole]), check })
      }
      await put(ref, { start: offset, end }, source)
      return end
    },

    async *join(ref, { size, parts, signal }) {
      if (parts) {
        for (const part of parts) yield* this.join({ ...ref, id: part.id }, { size: part.size, signal })
        return
      }
      let at = 0
      for (const { key, start, end } of await list(ref)) {
        if (end <= at || start > at) continue
        const asset = await bucket.find(key)
        if (asset?.size !== end - start) throw pieceMissing()
        const range = { start: at - start, end: end - start - 1 }
        yield* await asset.open({ signal, ...(at > start ? { range } : {}) })
        at = end
      }
      // The upload is being deleted: the remaining pieces are not the whole file.
      if (at !== size) throw pieceMissing()
    },

    async delete(ref) {
      const prefix = resumablePiecesOf(ref)
      await bucket.abortPuts(prefix)
      await deleteAll(
        bucket,
        (await list(ref)).map(({ key }) => key),
      )
    },
  }
}

/** @returns the error of the stream, if it failed @throws errors of `take` */
async function eachChunk(
  bytes: Readable,
  take: (chunk: Buffer) => Promise<void>,
): Promise<{ error: unknown } | undefined> {
  const chunks: AsyncIterator<Buffer> = bytes[Symbol.asyncIterator]()
  for (;;) {
    let next: IteratorResult<Buffer>
    try {
      next = await chunks.next()
    } catch (error) {
      return { error }
    }
    if (next.done) return undefined
    await take(next.value)
  }
}

function pieceMissing(): Problem {
  return unavailable('A part of this upload cannot be read at the moment. Retry.')
}

/** 460, the status of tus for a checksum mismatch. The bytes of the request are discarded. */
function checksumMismatch(): Problem {
  return new Problem({
    status: 460,
    code: 'checksum_mismatch',
    detail: `The received bytes do not match ${TUS_CHECKSUM}. The bytes of this request were discarded.`,
  })
}
