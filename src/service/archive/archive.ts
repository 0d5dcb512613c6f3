import type { Readable } from 'node:stream'
import pLimit from 'p-limit'
import { anySignal } from '../../core/async/any-signal.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type Asset, readAll } from '../../core/bytes/asset.ts'
import { distinctName, TakenNames } from '../../core/files/archive-names.ts'
import { portableName } from '../../core/files/portable-name.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import { unavailable } from '../../core/problem.ts'
import { READ_AHEAD_MAX_BYTES, type ReadAhead } from './read-ahead.ts'
import {
  type ArchiveFiles,
  type ArchiveItem,
  type ArchiveSources,
  type Failure,
  isDeflated,
  MANIFEST,
  type ManifestEntry,
  manifestOf,
} from './sources.ts'
import { createZipWriter, type ZipWriter } from './zip-writer.ts'

/** The files of one archive. */
export interface ArchiveRequest extends ArchiveFiles {
  /** Memory for the pieces of large files. */
  newPiece: () => Buffer
}

/**
 * Bundles files into one ZIP stream. An item that cannot be delivered is an error in the manifest.
 * When all items fail, at least one of them because of an outage, the stream fails before its
 * first byte with a Problem 503. A source that breaks in the middle of an entry is resumed. If
 * that is not possible, the stream fails: a complete archive never has a truncated file.
 */
export type Archive = (request: ArchiveRequest) => Readable

// Files that are found and rendered concurrently, and how far ahead of the current entry.
const CONCURRENCY = 4
const AHEAD = 8

export function createArchive({
  sources,
  events,
  newReadAhead,
}: {
  sources: ArchiveSources
  events: EventBus
  newReadAhead: () => ReadAhead
}): Archive {
  const find = async (item: ArchiveItem, request: ArchiveRequest) => (await sources.find(item, request)).asset

  /** Finds or renders the file of an item. Reads it ahead when it is small and there is memory. */
  async function prepare(
    item: ArchiveItem,
    request: ArchiveRequest,
    ahead: ReadAhead,
  ): Promise<Unread | Opened | Failure> {
    try {
      const asset = await find(item, request)
      // A derivative that was just rendered may be in memory. A large one is released here: it will be stored by its turn.
      if (asset.size > READ_AHEAD_MAX_BYTES || !ahead.take(asset.size)) return { item }
      const bytes = await readAll(asset, request.signal).catch((error) => {
        ahead.giveBack(asset.size)
        throw error
      })
      return { item, asset, bytes }
    } catch (error) {
      return sources.failure(item, request, error)
    }
  }

  /** Finds the file again if it was not read ahead, and opens it now: since `prepare`, an hour may have passed. */
  async function open(prepared: Unread | Opened, request: ArchiveRequest): Promise<Opened | Failure> {
    if ('bytes' in prepared) return prepared
    const { item } = prepared
    try {
      const asset = await find(item, request)
      return { item, asset, bytes: await asset.open({ signal: request.signal, newPiece: request.newPiece }) }
    } catch (error) {
      return sources.failure(item, request, error)
    }
  }

  async function write(zip: ZipWriter, request: ArchiveRequest, ahead: ReadAhead): Promise<void> {
    const { client, archiveName, items } = request
    const manifest: ManifestEntry[] = []
    let outage: Failure | undefined
    const taken = new TakenNames([MANIFEST])
    const limit = pLimit(CONCURRENCY)
    const work = (item: ArchiveItem) => limit(() => prepare(item, request, ahead))
    for await (const prepared of mapConcurrent(items, { concurrency: AHEAD, work })) {
      const opened = 'code' in prepared ? prepared : await open(prepared, request)
      const { requestedPath: path, name: wanted } = opened.item
      if ('code' in opened) {
        const { code, reason } = opened
        if (code === 503) outage ??= opened
        manifest.push({ path, name: wanted, status: 'error', code, reason })
        continue
      }
      const { asset, bytes } = opened
      const { size, lastModified: modifiedAt } = asset
      const name = distinctName(portableName(wanted), taken)
      await zip.add({ name, modifiedAt, deflated: isDeflated(asset), bytes })
      manifest.push({ path, name, status: 'ok', size })
      if ('bytes' in prepared) ahead.giveBack(size)
    }
    const isEmpty = manifest.every(({ status }) => status === 'error')
    if (isEmpty && outage) throw unavailable(outage.reason)
    await zip.add({ name: MANIFEST, modifiedAt: new Date(), deflated: true, bytes: manifestOf(manifest) })
    await zip.end()
    const errors = manifest.filter(({ status }) => status === 'error').length
    events.emit('archive.sent', {
      clientId: client.id,
      archiveName,
      entries: items.length - errors,
      errors,
      bytes: zip.length,
    })
  }

  return (request) => {
    const zip = createZipWriter()
    const ahead = newReadAhead()
    const ended = new AbortController()
    // This signal also aborts finding and rendering ahead.
    const { signal } = anySignal([request.signal, ended.signal])
    zip.output.once('close', () => ended.abort(new DOMException('the archive is closed', 'AbortError')))
    write(zip, { ...request, signal }, ahead)
      .catch((error) => zip.output.destroy(error))
      .finally(() => ahead.end())
    return zip.output
  }
}

/** A file that is opened in its turn. */
interface Unread {
  item: ArchiveItem
}

interface Opened {
  item: ArchiveItem
  asset: Asset
  bytes: Buffer | Readable
}
