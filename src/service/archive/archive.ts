import type { Readable } from 'node:stream'
import pLimit from 'p-limit'
import { anySignal } from '../../core/async/any-signal.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type Asset, readAll } from '../../core/bytes/asset.ts'
import { resumed } from '../../core/bytes/resumed-asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { distinctName, TakenNames } from '../../core/files/entry-name.ts'
import { portableName } from '../../core/files/portable-name.ts'
import type { Log } from '../../core/log.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import type { Deliveries } from '../delivery/deliveries.ts'
import { createReadAhead, type ReadAhead } from './read-ahead.ts'
import { createZipWriter, type ZipWriter } from './zip-writer.ts'

/** One file that is asked for; checked by then. */
export interface ArchiveItem {
  group: MediaGroup
  path: string
  /** The path as it was asked for: what the manifest calls it. */
  requestedPath: string
  query: ReadonlyArray<readonly [name: string, value: string]>
  /** Inside the archive, before it is made portable and equal names are told apart. */
  name: string
}

export interface ArchiveRequest {
  client: Client
  caller: Caller
  archiveName: string
  items: readonly ArchiveItem[]
  /** What is not in it is not there; absent: all is. */
  folder?: string | undefined
  /** Stops all work: the client has left. */
  signal: AbortSignal
}

/** What `_manifest.json` says of each item, in the order asked. The `name` of an error is the one asked for. */
type ManifestEntry =
  | { path: string; name: string; status: 'ok'; size: number }
  | { path: string; name: string; status: 'error'; code: number; reason: string }

/**
 * Bundles files into one ZIP stream. An item that cannot be delivered is an error in the manifest. When no item can be,
 * at least one of them because of an outage, the stream fails before its first byte with a Problem 503. A source that
 * breaks in mid-entry is resumed there; when it cannot be, the stream fails: no archive that ends well holds a truncated
 * file.
 */
export type Archive = (request: ArchiveRequest) => Readable

const MANIFEST = '_manifest.json'
// Found and rendered at the same time, and how far ahead of the entry that is being written.
const CONCURRENCY = 4
const AHEAD = 8
// For a large file: a piece is in memory until the archive's reader has room for it.
const newPiece = () => Buffer.allocUnsafeSlow(64 * 1024)
// What the caller is told of a failure that has no public face.
const INTERNAL = { status: 500, message: 'internal error' }
// Files up to this size are read ahead; of larger ones only the current is open.
const READ_AHEAD_MAX_BYTES = 1024 * 1024
// Of all archives at a time: what does not fit in is opened in its turn, like large files.
const ALL_READ_AHEAD_MAX_BYTES = 32 * 1024 * 1024
// Deflating what is compressed already costs time and gains nothing.
const DEFLATED = new Set([
  'svg',
  'bmp',
  'ico',
  'psd',
  'tiff',
  'wav',
  'aiff',
  'midi',
  'json',
  'xml',
  'pdf',
  'tar',
  'rtf',
  'wasm',
  'ttf',
  'otf',
  'bin',
])

export function createArchive({
  deliveries,
  events,
  log,
}: {
  deliveries: Deliveries
  events: EventBus
  log: Log
}): Archive {
  const newReadAhead = createReadAhead({ maxBytes: ALL_READ_AHEAD_MAX_BYTES })

  async function find(item: ArchiveItem, { client, caller, folder, signal }: ArchiveRequest): Promise<Asset> {
    const request = { client, caller, folder, ...item, accept: '', isOneFile: true, signal }
    const { key, asset } = await deliveries.deliver(request)
    return resumed(asset, {
      onBreak: (error, times) =>
        log.warn(
          { client: client.id, key, err: error, times },
          'a file of an archive could not be read to its end',
        ),
    })
  }

  /** What there is to write of an item; its bytes when it is small and there is room. */
  async function prepare(
    item: ArchiveItem,
    request: ArchiveRequest,
    ahead: ReadAhead,
  ): Promise<Unread | Opened | Failure> {
    try {
      const asset = await find(item, request)
      // A derivative that has just been made may be in memory: a large one is not held, it will be stored by its turn.
      if (asset.size > READ_AHEAD_MAX_BYTES || !ahead.take(asset.size)) return { item }
      const bytes = await readAll(asset, request.signal).catch((error) => {
        ahead.giveBack(asset.size)
        throw error
      })
      return { item, asset, bytes }
    } catch (error) {
      return failure(item, request, error)
    }
  }

  /** What has not been read ahead is found once more and opened now: an hour may have passed. */
  async function open(prepared: Unread | Opened, request: ArchiveRequest): Promise<Opened | Failure> {
    if ('bytes' in prepared) return prepared
    const { item } = prepared
    try {
      const asset = await find(item, request)
      return { item, asset, bytes: await asset.open({ signal: request.signal, newPiece }) }
    } catch (error) {
      return failure(item, request, error)
    }
  }

  function failure(item: ArchiveItem, { client, signal }: ArchiveRequest, error: unknown): Failure {
    signal.throwIfAborted()
    const { status: code, message: reason } = error instanceof Problem ? error : INTERNAL
    const fields = { client: client.id, path: item.path, status: code }
    if (code >= 500) log.error({ ...fields, err: error }, 'file skipped in archive')
    else if (error instanceof Problem && error.cause !== undefined)
      log.info({ ...fields, err: error.cause }, 'file skipped in archive')
    return { item, code, reason }
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
    const listing = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
    await zip.add({ name: MANIFEST, modifiedAt: new Date(), deflated: true, bytes: listing })
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
    // Also for what is found and rendered ahead.
    const { signal } = anySignal([request.signal, ended.signal])
    zip.output.once('close', () => ended.abort(new DOMException('the archive is closed', 'AbortError')))
    write(zip, { ...request, signal }, ahead)
      .catch((error) => zip.output.destroy(error))
      .finally(() => ahead.end())
    return zip.output
  }
}

/** Left to its turn. */
interface Unread {
  item: ArchiveItem
}

interface Opened {
  item: ArchiveItem
  asset: Asset
  bytes: Buffer | Readable
}

interface Failure {
  item: ArchiveItem
  code: number
  reason: string
}

function isDeflated({ mediaType }: Asset): boolean {
  const format = formatOfMediaType(mediaType)
  return format.group === 'text' || DEFLATED.has(format.name)
}
