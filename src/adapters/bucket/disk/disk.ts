import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import type { Client } from '../../../core/clients/client.ts'
import { type ObjectKey, storedKey } from '../../../core/files/object-key.ts'
import { SNIFF_BYTES } from '../../../core/media/sniff/sniff.ts'
import { type Bucket, type Buckets, ofSize, type PutOptions } from '../../../core/ports/bucket.ts'
import { unlessStatus } from '../../../core/problem.ts'
import { type DiskReserve, NO_RESERVE } from '../../disk/disk-reserve.ts'
import { makeSureOfRoom, writeProblem } from '../../disk/full-disk.ts'
import { mediaTypeOf } from '../media-type.ts'
import { diskAsset, tagOfFile } from './asset.ts'
import { linkCopy } from './copy.ts'
import { flushFolder, flushUpTo, removeEmptyFolders, renameInto, unlessMissing, walk } from './folders.ts'
import { writeNewFile } from './new-file.ts'
import { isOnLocalDisk, type QuickReads, quickReads, READING } from './quick-reads.ts'
import { walkInOrder } from './walk-in-order.ts'

// Space for the record that a delete writes, and for its folder.
const RECORD_BYTES = 128 * 1024

/** Options of {@link diskBuckets}. */
export interface DiskBucketOptions {
  /** An absolute path. Each client has a subfolder `<clientId>`. */
  folder: string
  /** The URL of an object of the client with this public token. */
  urlOf(key: ObjectKey, client: Pick<Client, 'token'>): string
  /** The reserve on the same disk. Ordinary puts do not use it. */
  reserve?: DiskReserve
  /** Nothing is created, so that the disk may be read-only. Default: false. */
  isReadOnly?: boolean
  /** How small files are read. Default: by the kind of the disk. */
  quick?: QuickReads
}

/**
 * Buckets as folders of a disk. A file appears under its name only when it is complete: it is written under a temporary
 * name, flushed and renamed, and then the folder is flushed. So neither a crash nor a power cut leaves a partial file.
 * Several processes may share the folder. {@link Buckets.sweep} removes the temporary files of killed processes.
 */
export async function diskBuckets({
  folder,
  urlOf,
  reserve = NO_RESERVE,
  isReadOnly = false,
  ...given
}: DiskBucketOptions): Promise<Buckets> {
  const temporary = join(folder, '.tmp')
  if (!isReadOnly) {
    await mkdir(temporary, { recursive: true, mode: 0o700 })
    await flushFolder(dirname(folder))
  }
  const quick = given.quick ?? quickReads({ isLocal: await isOnLocalDisk(folder) })
  // A random name instead of the PID: processes in different containers have the same PID.
  const owner = randomUUID()
  let puts = 0
  return {
    of: ({ id, token }) =>
      diskBucket({
        root: join(folder, id),
        newTemporaryPath: () => join(temporary, `${owner}-${++puts}`),
        urlOf: (key) => urlOf(key, { token }),
        quick,
        makeRoom({ freesRoom }) {
          if (freesRoom)
            return reserve === NO_RESERVE
              ? undefined
              : reserve.forced(() => makeSureOfRoom(temporary, RECORD_BYTES))
          return reserve.isIntact() ? undefined : reserve.restored()
        },
      }),
    async ping() {
      await stat(temporary)
    },
    async sweep(olderThanMs) {
      let removed = 0
      for await (const path of walk(temporary)) {
        const found = await unlessMissing(stat(path))
        if (!found || found.mtimeMs > Date.now() - olderThanMs) continue
        await rm(path, { force: true })
        removed += 1
      }
      return removed
    },
  }
}

function diskBucket({
  root,
  newTemporaryPath,
  urlOf,
  quick,
  makeRoom,
}: {
  root: string
  newTemporaryPath: () => string
  urlOf: Bucket['urlOf']
  quick: QuickReads
  /** @returns undefined when a put may begin at once @throws Problem 503 storage_full */
  makeRoom(options: Pick<PutOptions, 'freesRoom'>): Promise<void> | undefined
}): Bucket {
  const pathOf = (key: ObjectKey) => join(root, key)
  /** The folder that contains all keys with this prefix. Below it, the whole key is compared. */
  const startOfList = (prefix: string) => join(root, prefix.slice(0, prefix.lastIndexOf('/') + 1))
  const pathAfter = (key: string) => (key ? join(root, key) : '')
  const bucket: Bucket = {
    urlOf,

    async find(key, known) {
      const path = pathOf(key)
      const found = await quick.calls().stat(path)
      if (!found?.isFile()) return undefined
      const mediaType = known?.mediaType ?? (await mediaTypeOf(key, () => startOf(path)))
      return diskAsset(path, found, mediaType, quick)
    },

    assume: async (key, known) => ofSize(await bucket.find(key, known), known),

    async put(key, bytes, { durable = true, freesRoom = false, signal, tagged }) {
      const room = makeRoom({ freesRoom })
      if (room !== undefined) await waitBeforeReading(bytes, room)
      const temporary = newTemporaryPath()
      try {
        await writeNewFile(temporary, bytes, { signal, quick })
        const path = pathOf(key)
        // Before the rename: afterwards, another put may have replaced the file.
        const written = tagged && (await quick.calls().stat(temporary))
        const made = await renameInto(temporary, path, quick.calls())
        if (durable) await flushUpTo(path, { made, root })
        if (written) tagged?.(tagOfFile(written))
      } catch (error) {
        await rm(temporary, { force: true })
        throw writeProblem(error)
      }
    },

    async copy(from, to, options) {
      const source = await bucket.find(from, options)
      if (!source) return false
      options.signal?.throwIfAborted()
      const isLinked = await linkCopy(pathOf(from), { path: pathOf(to), root })
      if (isLinked !== undefined) return isLinked
      const bytes = await unlessStatus(404, source.open())
      if (bytes) await bucket.put(to, bytes, options)
      return bytes !== undefined
    },

    async delete(keys) {
      const failed: Array<{ key: ObjectKey; error: unknown }> = []
      const folders = new Set<string>()
      for (const key of keys) {
        const path = pathOf(key)
        try {
          await unlessMissing(unlink(path))
          folders.add(dirname(path))
        } catch (error) {
          failed.push({ key, error })
        }
      }
      for (const path of folders) {
        await unlessMissing(flushFolder(path))
        await removeEmptyFolders(path, root)
      }
      return { failed }
    },

    // Temporary names do not contain keys. The sweep removes all of them.
    async abortPuts() {},

    async *list(prefix, { after } = {}) {
      const start = startOfList(prefix)
      for await (const path of after === undefined ? walk(start) : walkInOrder(start, pathAfter(after))) {
        const key = relative(root, path)
        if (key.startsWith(prefix) && isKey(key)) yield storedKey(key)
      }
    },

    async *listObjects(prefix, { after = '' } = {}) {
      for await (const path of walkInOrder(startOfList(prefix), pathAfter(after))) {
        const key = relative(root, path)
        if (!key.startsWith(prefix) || !isKey(key)) continue
        const found = await quick.calls().stat(path)
        if (found?.isFile()) yield { key: storedKey(key), size: found.size, tag: tagOfFile(found) }
      }
    },
  }
  return bucket
}

/**
 * Waits before the stream is read. The stream may fail during the wait. That must not end the process: `pipeline`
 * reports the error later.
 */
async function waitBeforeReading(bytes: Readable, work: Promise<void>): Promise<void> {
  const ignore = () => {}
  bytes.on('error', ignore)
  try {
    await work
  } catch (error) {
    bytes.destroy()
    throw error
  }
  bytes.off('error', ignore)
}

/** Other programs may have put files into the folder. Their names are not keys. */
function isKey(text: string): boolean {
  try {
    storedKey(text)
    return true
  } catch {
    return false
  }
}

/** The first bytes of a file. Undefined when it does not exist. */
async function startOf(path: string): Promise<Uint8Array | undefined> {
  const file = await unlessMissing(open(path, READING))
  if (!file) return undefined
  try {
    return await headOf(file)
  } finally {
    await file.close()
  }
}

async function headOf(file: FileHandle): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(SNIFF_BYTES), 0, SNIFF_BYTES, 0)
  return buffer.subarray(0, bytesRead)
}
