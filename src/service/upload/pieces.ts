import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { readAll } from '../../core/bytes/asset.ts'
import {
  type ResumablePiece,
  type ResumableRef,
  resumableMeaning,
  resumablePiece,
  resumablePiecesOf,
} from '../../core/files/resumable-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { deleteAll } from '../originals/delete-objects.ts'

/** What a sender says of the bytes it sends. */
export interface Checksum {
  algorithm: ChecksumAlgorithm
  digest: Buffer
  /** How many bytes it is of. */
  length: number
}

export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'sha512', 'md5'] as const
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number]

/** What has come of an upload in several requests. */
export interface ResumablePieces {
  /** In order; they may overlap where a request was repeated, and hold the same bytes there. */
  list(ref: ResumableRef): Promise<ResumablePiece[]>
  /**
   * Keeps what comes from `offset` on. What was kept stays, also when the stream fails or the process dies.
   * @param check called before each piece is kept; throws when it may not be
   * @returns the offset of the next byte
   */
  append(ref: ResumableRef, options: AppendOptions): Promise<number>
  /**
   * The same, all or nothing.
   * @throws Problem 460 when the bytes are others, or fewer
   */
  appendChecked(ref: ResumableRef, options: AppendOptions & { checksum: Checksum }): Promise<number>
  /** All bytes of an upload of this size, one piece after the other. @throws Problem 503 when some cannot be had any more */
  join(ref: ResumableRef, options: { size: number; signal: AbortSignal }): AsyncGenerator<Buffer>
  /** @throws Problem 503 */
  delete(ref: ResumableRef): Promise<void>
}

export interface AppendOptions {
  offset: number
  bytes: Readable
  check: () => Promise<void>
}

// Held in memory until it is kept; on S3 below a part, so that it is one request, and no multipart upload that could
// stay behind.
const PIECE_BYTES = 8_000_000
// Of all uploads of this process together: with more than eight of them pieces are smaller, as far as they still make sense.
const HELD_BYTES = 64_000_000
const PIECE_MIN_BYTES = 1_200_000
// Of a slow sender no more than these seconds are lost when the process is killed.
const PIECE_MS = 10_000
// A last one that is smaller is read and put anew with what follows, so that a sender of crumbs leaves few objects: of
// 64 MiB about 1000, of 1 GiB 4000. What is put anew is no more than a thousandth of what has come, so that no crumb costs
// much: 64 KiB at first.
const SMALL_MIN_BYTES = 64 * 1024
const SMALL_MAX_BYTES = 1024 ** 2
const smallBytes = (offset: number) => Math.min(SMALL_MAX_BYTES, Math.max(SMALL_MIN_BYTES, offset / 1000))

/** How far the pieces go without a gap from the first byte. @param pieces in order */
export function offsetOf(pieces: readonly ResumablePiece[]): number {
  return pieces.reduce((offset, { start, end }) => (start <= offset && end > offset ? end : offset), 0)
}

/** @param bucket the first client's: all pieces lie in it */
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

  /** The last piece, when it is small, with its bytes. */
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
        // From here on its bytes are in the new one as well.
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
        if (length !== checksum.length || !hash.digest().equals(checksum.digest)) throw checksumMismatch()
      }
      await check()
      const source = Readable.from(checked(), { objectMode: false })
      // As all of it is known to be right before anything is kept, it may go with the one before.
      if (checksum.length < smallBytes(offset)) {
        const whole = Buffer.concat(await source.toArray())
        return append(ref, { offset, bytes: Readable.from([whole]), check })
      }
      await put(ref, { start: offset, end }, source)
      return end
    },

    async *join(ref, { size, signal }) {
      let at = 0
      for (const { key, start, end } of await list(ref)) {
        if (end <= at || start > at) continue
        const asset = await bucket.find(key)
        if (asset?.size !== end - start) throw pieceMissing()
        const range = { start: at - start, end: end - start - 1 }
        yield* await asset.open({ signal, ...(at > start ? { range } : {}) })
        at = end
      }
      // It is being deleted: what is there is not to be taken for the whole.
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

/** @returns what the stream has failed with; what `take` throws is thrown */
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

/** 460, as tus has it: what came is discarded. */
function checksumMismatch(): Problem {
  return new Problem({
    status: 460,
    code: 'checksum_mismatch',
    detail: 'The received bytes do not match Upload-Checksum. The bytes of this request were discarded.',
  })
}
