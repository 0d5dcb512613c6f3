import type { Readable } from 'node:stream'
import pLimit from 'p-limit'
import { type Asset, readAll } from '../core/asset.ts'
import type { Client } from '../core/client.ts'
import { distinctName } from '../core/entry-name.ts'
import { joinSignals } from '../core/joined-signal.ts'
import type { Log } from '../core/log.ts'
import { formatOfMediaType, type MediaGroup } from '../core/media.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import { Problem } from '../core/problem.ts'
import { resumed } from '../core/resumed-asset.ts'
import type { Deliveries } from './deliver.ts'
import { type ReadAhead, readAheadOf } from './read-ahead.ts'
import { type ZipWriter, zipWriter } from './zip-writer.ts'

/** One file that is asked for; checked by then. */
export interface ArchiveItem {
  group: MediaGroup
  path: string
  /** The path as it was asked for: what the manifest calls it. */
  requestedPath: string
  query: ReadonlyArray<readonly [name: string, value: string]>
  /** Inside the archive, before equal names are told apart. */
  name: string
}

export interface ArchiveRequest {
  client: Client
  archiveName: string
  items: readonly ArchiveItem[]
  /** Stops all work: the client has left. */
  signal: AbortSignal
}

/** What `_manifest.json` says of each item, in the order asked. The `name` of an error is the one asked for. */
type ManifestEntry =
  | { path: string; name: string; status: 'ok'; size: number }
  | { path: string; name: string; status: 'error'; code: number; reason: string }

/**
 * Bundles files into one ZIP stream. An item that cannot be delivered is an error in the manifest. A source that
 * breaks in mid-entry is gone on with from there; when it cannot, the stream fails: no archive that ends well holds a
 * truncated file.
 */
export type Archive = (request: ArchiveRequest) => Readable

const MANIFEST = '_manifest.json'
// Found and rendered at the same time, and how far ahead of the entry that is being written.
const AT_ONCE = 4
const AHEAD = 8
// What the caller is told of a failure that has no public face.
const INTERNAL = { status: 500, message: 'internal error' }
// Files up to this size are read ahead; of larger ones only the current is open.
const READ_AHEAD_BYTES = 1024 * 1024
// Of all archives at a time: what does not fit in is opened in its turn, like large files.
const ALL_READ_AHEAD_BYTES = 32 * 1024 * 1024
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
  const newReadAhead = readAheadOf(ALL_READ_AHEAD_BYTES)

  async function find(item: ArchiveItem, { client, signal }: ArchiveRequest): Promise<Asset> {
    const { key, asset } = await deliveries.deliver({ client, ...item, accept: '', signal })
    return resumed(asset, {
      onBreak: (error, times) =>
        log.warn({ client: client.id, key, err: error, times }, 'a file of an archive broke off'),
    })
  }

  /** What there is to write of an item; its bytes when it is small and there is room. */
  async function prepare(item: ArchiveItem, request: ArchiveRequest, ahead: ReadAhead): Promise<Prepared> {
    try {
      const asset = await find(item, request)
      // A derivative that has just been made may be in memory: a large one is not held, it will be stored by its turn.
      if (asset.size > READ_AHEAD_BYTES || !ahead.take(asset.size)) return { item }
      return { item, asset, bytes: await readAll(asset, request.signal) }
    } catch (error) {
      return failure(item, request, error)
    }
  }

  /** What has not been read ahead is found once more and opened now: an hour may have passed. */
  async function open(prepared: Found | Opened, request: ArchiveRequest): Promise<Opened | Failure> {
    if ('bytes' in prepared) return prepared
    const { item } = prepared
    try {
      const asset = await find(item, request)
      return { item, asset, bytes: await asset.open({ signal: request.signal }) }
    } catch (error) {
      return failure(item, request, error)
    }
  }

  function failure(item: ArchiveItem, { client, signal }: ArchiveRequest, error: unknown): Failure {
    signal.throwIfAborted()
    const { status: code, message: reason } = error instanceof Problem ? error : INTERNAL
    const fields = { client: client.id, path: item.path, status: code }
    if (code >= 500) log.error({ ...fields, err: error }, 'an archive goes without this file')
    else if (error instanceof Problem && error.cause !== undefined)
      log.info({ ...fields, err: error.cause }, 'an archive goes without this file')
    return { item, code, reason }
  }

  async function write(zip: ZipWriter, request: ArchiveRequest, ahead: ReadAhead): Promise<void> {
    const { client, archiveName, items } = request
    const manifest: ManifestEntry[] = []
    const taken = new Set([MANIFEST])
    for await (const prepared of inOrder(items, (item) => prepare(item, request, ahead))) {
      const opened = 'code' in prepared ? prepared : await open(prepared, request)
      const { requestedPath: path, name: wanted } = opened.item
      if ('code' in opened) {
        const { code, reason } = opened
        manifest.push({ path, name: wanted, status: 'error', code, reason })
        continue
      }
      const { asset, bytes } = opened
      const { size, lastModified: modifiedAt } = asset
      const name = distinctName(wanted, taken)
      await zip.add({ name, modifiedAt, deflated: isDeflated(asset), bytes })
      manifest.push({ path, name, status: 'ok', size })
      if ('bytes' in prepared) ahead.give(size)
    }
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
    const zip = zipWriter()
    const ahead = newReadAhead()
    const ended = new AbortController()
    // Also for what is found and rendered ahead.
    const { signal } = joinSignals([request.signal, ended.signal])
    zip.output.once('close', () => ended.abort(new DOMException('the archive has ended', 'AbortError')))
    write(zip, { ...request, signal }, ahead)
      .catch((error) => zip.output.destroy(error))
      .finally(() => ahead.end())
    return zip.output
  }
}

interface Found {
  item: ArchiveItem
}

interface Opened extends Found {
  asset: Asset
  bytes: Buffer | Readable
}

interface Failure extends Found {
  code: number
  reason: string
}

type Prepared = Found | Opened | Failure

/** The outcomes in order, made a few at a time and a little ahead of whoever takes them. */
async function* inOrder<I, O>(items: readonly I[], make: (item: I) => Promise<O>): AsyncGenerator<O> {
  const limit = pLimit(AT_ONCE)
  const made: Array<Promise<O>> = []
  for (const i of items.keys()) {
    for (const item of items.slice(made.length, i + AHEAD)) {
      const promise = limit(() => make(item))
      // Awaited in its turn; until then a failure is nobody's.
      promise.catch(() => {})
      made.push(promise)
    }
    const next = made[i]
    if (next) yield await next
    // What has been written must not be held.
    delete made[i]
  }
}

function isDeflated({ mediaType }: Asset): boolean {
  const format = formatOfMediaType(mediaType)
  return format.group === 'text' || DEFLATED.has(format.name)
}
