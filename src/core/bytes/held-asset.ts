import { Readable } from 'node:stream'
import { fileNotFound } from '../problem.ts'
import { type Asset, type ByteRange, type OpenOptions, readWhole } from './asset.ts'
import { pieceOf } from './piece.ts'

/** An asset in memory that is being stored in a bucket. */
export interface HeldAsset {
  /** Its streams continue from the bucket, at the same position, after `release`. */
  asset: Asset
  /** Releases the bytes. Slow readers continue from the bucket. @param find returns the stored asset */
  release(find: () => Promise<Asset | undefined>): void
  /**
   * Reports that the bytes could not be stored: they stay in memory for their readers. Calls
   * {@link Asset.onNotStored} listeners.
   */
  notStored(): void
}

/** @param rendered the asset in memory */
export function heldAsset(rendered: Asset): HeldAsset {
  const { size, mediaType, lastModified } = rendered
  // Waiting functions receive this object, never the asset in it: their variables stay in memory while they wait.
  const place: Place = { held: rendered, find: async () => undefined }
  const listeners = new Set<() => void>()
  let isNotStored = false
  return {
    asset: {
      size,
      mediaType,
      lastModified,
      onNotStored(listener) {
        if (isNotStored) listener()
        else listeners.add(listener)
        return () => listeners.delete(listener)
      },
      async open(options = {}) {
        if (!place.held) return openStored(place, options)
        const { newPiece, signal, range = { start: 0, end: size - 1 } } = options
        if (!newPiece) return place.held.open(options)
        signal?.throwIfAborted()
        return Readable.from(pieces(place, { ...options, newPiece, range }), {
          objectMode: false,
          highWaterMark: 0,
          ...(signal ? { signal } : {}),
        })
      },
    },
    release(find) {
      place.find = find
      place.held = undefined
      listeners.clear()
    },
    notStored() {
      isNotStored = true
      for (const listener of listeners) listener()
      listeners.clear()
    },
  }
}

interface Place {
  held: Asset | undefined
  find: () => Promise<Asset | undefined>
}

async function* pieces(
  place: Place,
  { range, ...options }: OpenOptions & { range: ByteRange; newPiece: () => Buffer },
): AsyncGenerator<Buffer> {
  const { end } = range
  let at = range.start
  while (at <= end && place.held) {
    const memory = options.newPiece()
    const length = Math.min(memory.length, end + 1 - at)
    await copy(place, { start: at, end: at + length - 1 }, memory)
    at += length
    yield pieceOf(memory, length)
  }
  if (at <= end) yield* await openStored(place, { ...options, range: { start: at, end } })
}

async function copy(place: Place, range: ByteRange, memory: Buffer): Promise<void> {
  const asset = place.held ?? (await place.find())
  if (!asset) throw fileNotFound()
  memory.set(await readWhole(asset, { range }))
}

async function openStored({ find }: Place, options: OpenOptions): Promise<Readable> {
  const stored = await find()
  if (!stored) throw fileNotFound()
  return stored.open(options)
}
