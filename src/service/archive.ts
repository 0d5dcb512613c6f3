import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { ZipArchive } from 'archiver'
import pLimit from 'p-limit'
import { type Asset, openWhole, readAll } from '../core/asset.ts'
import type { Client } from '../core/client.ts'
import { distinctName } from '../core/entry-name.ts'
import { joinSignals } from '../core/joined-signal.ts'
import type { Log } from '../core/log.ts'
import { formatOfMediaType, type MediaGroup } from '../core/media.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import { Problem } from '../core/problem.ts'
import type { Deliveries } from './deliver.ts'

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
 * Bundles files into one ZIP stream. An item that cannot be delivered is an error in the manifest; a source that
 * breaks in mid-entry destroys the stream: no archive that ends well holds a truncated file.
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
  async function prepare(item: ArchiveItem, { client, signal }: ArchiveRequest): Promise<Prepared> {
    try {
      const { asset } = await deliveries.deliver({ client, ...item, accept: '', signal })
      const small = asset.size <= READ_AHEAD_BYTES
      return { item, asset, ...(small ? { bytes: await readAll(asset, signal) } : {}) }
    } catch (error) {
      signal.throwIfAborted()
      const { status: code, message: reason } = error instanceof Problem ? error : INTERNAL
      const fields = { client: client.id, path: item.path, status: code }
      if (code >= 500) log.error({ ...fields, err: error }, 'an archive goes without this file')
      else if (error instanceof Problem && error.cause !== undefined)
        log.info({ ...fields, err: error.cause }, 'an archive goes without this file')
      return { item, code, reason }
    }
  }

  async function write(zip: ZipArchive, request: ArchiveRequest, signal: AbortSignal): Promise<void> {
    const { client, archiveName, items } = request
    const manifest: ManifestEntry[] = []
    const taken = new Set([MANIFEST])
    for await (const prepared of inOrder(items, (item) => prepare(item, { ...request, signal }))) {
      const { requestedPath: path, name } = prepared.item
      if ('code' in prepared) {
        const { code, reason } = prepared
        manifest.push({ path, name, status: 'error', code, reason })
        continue
      }
      const { asset, bytes } = prepared
      const entry = { name: distinctName(name, taken), date: asset.lastModified, store: !isDeflated(asset) }
      await append(zip, bytes ?? (await openWhole(asset, { signal })), { ...entry, signal })
      manifest.push({ path, name: entry.name, status: 'ok', size: asset.size })
    }
    const listing = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
    await append(zip, listing, { name: MANIFEST, date: new Date(), signal })
    await zip.finalize()
    const errors = manifest.filter(({ status }) => status === 'error').length
    events.emit('archive.sent', {
      clientId: client.id,
      archiveName,
      entries: items.length - errors,
      errors,
      bytes: zip.pointer(),
    })
  }

  return (request) => {
    const zip = new ZipArchive({ zlib: { level: 6 } })
    const output = new PassThrough()
    const ended = new AbortController()
    const { signal } = joinSignals([request.signal, ended.signal])
    const fail = (error: unknown) => {
      zip.abort()
      output.destroy(error instanceof Error ? error : new Error(String(error)))
    }
    output.once('close', () => ended.abort(new DOMException('the archive is closed', 'AbortError')))
    zip.once('error', fail)
    zip.pipe(output)
    write(zip, request, signal).catch(fail)
    return output
  }
}

type Prepared =
  | { item: ArchiveItem; asset: Asset; bytes?: Buffer }
  | { item: ArchiveItem; code: number; reason: string }

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

/** Resolves when the entry has been written. archiver itself neither fails nor ends when a source breaks. */
async function append(
  zip: ZipArchive,
  source: Buffer | Readable,
  { signal, ...entry }: { name: string; date: Date; store?: boolean; signal: AbortSignal },
): Promise<void> {
  const broken = new AbortController()
  const joined = joinSignals([signal, broken.signal])
  const written = once(zip, 'entry', joined)
  if (source instanceof Readable) source.once('error', (error) => broken.abort(error))
  zip.append(source, { ...entry, mode: 0o644 })
  try {
    await written
  } catch (error) {
    if (source instanceof Readable) source.destroy()
    throw broken.signal.reason ?? error
  } finally {
    joined.leave()
  }
}

function isDeflated({ mediaType }: Asset): boolean {
  const format = formatOfMediaType(mediaType)
  return format.group === 'text' || DEFLATED.has(format.name)
}
