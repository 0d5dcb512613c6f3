import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type Asset, type ByteRange, lengthOf, type OpenOptions, readWhole } from '../../core/bytes/asset.ts'
import { distinctName, TakenNames } from '../../core/files/archive-names.ts'
import { portableName } from '../../core/files/portable-name.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import { unavailable } from '../../core/problem.ts'
import { READ_AHEAD_MAX_BYTES, type ReadAhead } from './read-ahead.ts'
import {
  type ArchiveFiles,
  type ArchiveItem,
  type ArchiveSources,
  isDeflated,
  MANIFEST,
  type ManifestEntry,
  manifestOf,
} from './sources.ts'
import type { FindStored, FindStoredOptions } from './stored-files.ts'
import { type LaidOutEntry, layOut, type Segment } from './zip-layout.ts'

/** An archive whose bytes are known before it is sent. */
export interface StoredArchive {
  /** Any range of it can be opened. It fails when a file has changed or is deleted in the meantime. */
  asset: Asset
  /** Unquoted. Another list of files, or other bytes of one of them, have another one. */
  etag: string
  /** Whether an archive that compresses its files would be smaller. */
  isCompressible: boolean
}

/**
 * Lays out an archive whose files are all stored: uncompressed, so that its size is known and a download can be resumed. A file
 * that does not exist is an error in the manifest. Undefined when a derivative has to be rendered, when a checksum is missing, and
 * during an outage.
 *
 * @param options as in {@link FindStored}
 */
export type LayOutArchive = (
  request: ArchiveFiles,
  options?: FindStoredOptions,
) => Promise<StoredArchive | undefined>

// Files that are found again concurrently, and how many small ones are read ahead.
const CONCURRENCY = 4

interface StoredItem {
  item: ArchiveItem
  size: number
  crc32: number
}

/** A part of an archive that is read. */
interface Part {
  segment: Segment
  /** Within the segment. */
  range: ByteRange
}

export function createLayOutArchive({
  sources,
  findStored,
  events,
  newReadAhead,
}: {
  sources: ArchiveSources
  findStored: FindStored
  events: EventBus
  newReadAhead: () => ReadAhead
}): LayOutArchive {
  /** Finds a file again: it may have been deleted since the archive was laid out. @throws Problem 404, 503 */
  async function findAgain({ item, size, crc32 }: StoredItem, request: ArchiveFiles): Promise<Asset> {
    const { asset } = await sources.find(item, request, { isStored: true })
    if (asset.size !== size || asset.crc32 !== crc32)
      throw unavailable('A file of the archive has changed. Request the archive again.')
    return asset
  }

  return async (request, options) => {
    const found = await findStored(request, options)
    if (!found) return undefined
    const taken = new TakenNames([MANIFEST])
    const manifest: ManifestEntry[] = []
    const entries: LaidOutEntry[] = []
    const files: StoredItem[] = []
    const keys: string[] = []
    let newest = new Date(0)
    let isCompressible = false
    for (const each of found) {
      const { item } = each
      if ('error' in each) {
        const { code, reason } = sources.failure(item, request, each.error)
        manifest.push({ path: item.requestedPath, name: item.name, status: 'error', code, reason })
        continue
      }
      const { asset, key } = each.delivery
      const { size, crc32 = 0, lastModified: modifiedAt } = asset
      const name = distinctName(portableName(item.name), taken)
      manifest.push({ path: item.requestedPath, name, status: 'ok', size })
      entries.push({ name, size, crc32, modifiedAt })
      files.push({ item, size, crc32 })
      keys.push(key)
      if (modifiedAt > newest) newest = modifiedAt
      isCompressible ||= isDeflated(asset)
    }
    const errors = found.length - files.length
    const listing = manifestOf(manifest)
    const { segments, size } = layOut(entries, { name: MANIFEST, bytes: listing, modifiedAt: newest })
    const hash = createHash('sha256').update(JSON.stringify(keys))
    for (const segment of segments) if ('bytes' in segment) hash.update(segment.bytes)

    async function read(
      { segment, range }: Part,
      { signal = request.signal }: OpenOptions,
      ahead: ReadAhead,
    ): Promise<Buffer | undefined> {
      if ('bytes' in segment) return segment.bytes.subarray(range.start, range.end + 1)
      const length = lengthOf(range)
      if (length > READ_AHEAD_MAX_BYTES || !ahead.take(length)) return undefined
      return readWhole(await findAgain(fileOf(segment), request), { range, signal })
    }

    const fileOf = (segment: Segment) => files['entry' in segment ? segment.entry : -1] as StoredItem

    async function* walk(wanted: ByteRange, options: OpenOptions): AsyncGenerator<Buffer> {
      const ahead = newReadAhead()
      const work = async (part: Part) => ({ part, bytes: await read(part, options, ahead) })
      const parts = partsIn(segments, wanted)
      try {
        for await (const { part, bytes } of mapConcurrent(parts, { concurrency: CONCURRENCY, work })) {
          if (bytes) {
            yield bytes
            if ('entry' in part.segment) ahead.giveBack(bytes.length)
            continue
          }
          const asset = await findAgain(fileOf(part.segment), request)
          yield* await asset.open({ ...options, range: part.range })
        }
      } finally {
        ahead.end()
      }
      if (wanted.end < size - 1) return
      const { client, archiveName } = request
      const sent = { clientId: client.id, archiveName, bytes: size }
      events.emit('archive.sent', { ...sent, entries: files.length, errors })
    }

    const asset: Asset = {
      size,
      mediaType: 'application/zip',
      lastModified: newest,
      async open({ range = { start: 0, end: size - 1 }, ...options } = {}) {
        options.signal?.throwIfAborted()
        // One piece per read: otherwise a read would copy several of them into one.
        return Readable.from(walk(range, options), { objectMode: true, highWaterMark: 1 })
      },
    }
    return { asset, etag: hash.digest('base64url'), isCompressible }
  }
}

function* partsIn(segments: readonly Segment[], { start, end }: ByteRange): Generator<Part> {
  for (const segment of segments) {
    const from = Math.max(0, start - segment.start)
    const to = Math.min(segment.size - 1, end - segment.start)
    if (from <= to) yield { segment, range: { start: from, end: to } }
  }
}
