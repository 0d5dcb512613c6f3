import type { Asset } from '../../core/bytes/asset.ts'
import { resumed } from '../../core/bytes/resumed-asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { parsePath } from '../../core/files/request-path.ts'
import type { Log } from '../../core/log.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import { Problem } from '../../core/problem.ts'
import type { Deliveries, Delivery } from '../delivery/deliveries.ts'
import type { Checksums } from './checksums.ts'

/** One requested file, already validated. */
export interface ArchiveItem {
  /** Absent: that of a full key; for a short path, each group is tried. */
  group?: MediaGroup
  path: string
  /** The path as received, for the manifest. */
  requestedPath: string
  query: ReadonlyArray<readonly [name: string, value: string]>
  /** Its name in the archive, before it is made portable and unique. */
  name: string
}

/** The files of one archive, and the caller to whom they are delivered. */
export interface ArchiveFiles {
  client: Client
  caller: Caller
  archiveName: string
  items: readonly ArchiveItem[]
  /** Restricts the request to this folder: other files are treated as missing. Absent: no restriction. */
  folder?: string | undefined
  /** Aborts all work when the client disconnects. */
  signal: AbortSignal
}

/** An entry of `_manifest.json`, in the order of the request. For an error, `name` is the requested one. */
export type ManifestEntry =
  | { path: string; name: string; status: 'ok'; size: number }
  | { path: string; name: string; status: 'error'; code: number; reason: string }

/** A file that cannot be delivered. */
export interface Failure {
  item: ArchiveItem
  code: number
  reason: string
}

/** Finds the files of archives. */
export interface ArchiveSources {
  /** Finds or renders the file of an item. @throws as {@link Deliveries.deliver} */
  find(item: ArchiveItem, request: ArchiveFiles, how?: FindOptions): Promise<Delivery>
  /** The failure of an item, for the manifest. @throws `signal.reason` when the client has disconnected */
  failure(item: ArchiveItem, request: ArchiveFiles, error: unknown): Failure
}

/** How a file is found. */
export interface FindOptions {
  /** Only a file that is stored: a derivative is not rendered. */
  isStored?: boolean
}

/** The name of the list of files in each archive. */
export const MANIFEST = '_manifest.json'
// The public text for errors without one.
const INTERNAL = { status: 500, message: 'internal error' }
// Formats that benefit from deflate. For compressed formats it costs time and gains nothing.
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

export function createArchiveSources({
  deliveries,
  checksums,
  log,
}: {
  deliveries: Pick<Deliveries, 'deliver'>
  checksums: Pick<Checksums, 'observerOf'>
  log: Log
}): ArchiveSources {
  return {
    async find(item, { client, caller, folder, signal }, { isStored = false } = {}) {
      const stored = isStored ? { beforeRender: refuse, beforeJob: refuse } : {}
      const by = { client, caller, folder, preferences: {}, isOneFile: true, signal }
      const delivery = await inAnyGroup(item, (group) =>
        deliveries.deliver({ ...by, ...item, ...stored, group }),
      )
      const { key } = delivery
      const onBreak = (err: unknown, times: number) =>
        log.warn({ client: client.id, key, err, times }, 'a file of an archive could not be read to its end')
      const newObserver = checksums.observerOf(delivery, client)
      return {
        ...delivery,
        asset: resumed(delivery.asset, { onBreak, ...(newObserver ? { newObserver } : {}) }),
      }
    },

    failure(item, { client, signal }, error) {
      signal.throwIfAborted()
      const { status: code, message: reason } = error instanceof Problem ? error : INTERNAL
      const fields = { client: client.id, path: item.path, status: code }
      if (code >= 500) log.error({ ...fields, err: error }, 'file skipped in archive')
      else if (error instanceof Problem && error.cause !== undefined)
        log.info({ ...fields, err: error.cause }, 'file skipped in archive')
      return { item, code, reason }
    },
  }
}

/** Finds a file in the group of its item, or in the first one that has it. @throws Problem 404 */
async function inAnyGroup<T>(
  { group, path }: ArchiveItem,
  find: (group: MediaGroup) => Promise<T>,
): Promise<T> {
  const ofKey = group ?? parsePath(path).full?.format.group
  if (ofKey) return find(ofKey)
  let missing: unknown
  for (const each of MEDIA_GROUPS) {
    try {
      return await find(each)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'file_not_found') throw error
      missing ??= error
    }
  }
  throw missing
}

/** Runs instead of a render or a media job, when only stored derivatives are wanted. */
async function refuse(): Promise<void> {
  throw new Error('the derivative is not stored')
}

/** Whether the file becomes smaller by deflate. */
export function isDeflated({ mediaType }: Pick<Asset, 'mediaType'>): boolean {
  const format = formatOfMediaType(mediaType)
  return format.group === 'text' || DEFLATED.has(format.name)
}

/** The bytes of the list of files. */
export function manifestOf(entries: readonly ManifestEntry[]): Buffer {
  return Buffer.from(`${JSON.stringify(entries, null, 2)}\n`)
}
