import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, opendir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Asset } from '../../core/asset.ts'
import type { Client } from '../../core/client.ts'
import { type ObjectKey, parseKey, storedKey } from '../../core/object-key.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import { fileNotFound, storageFull } from '../../core/problem.ts'
import { SNIFF_BYTES, sniff } from '../../core/sniff.ts'
import { isFull } from '../full-disk.ts'

// What is read or written at a time: large enough that a gigabyte is not a million turns of the event loop.
const PIECE_BYTES = 256 * 1024

// How often a folder may be removed between its making and its first file.
const FOLDER_ATTEMPTS = 10

/** Where a {@link diskBuckets} keeps its files. */
export interface DiskBucketOptions {
  /** An absolute path; each client has a folder `<clientId>` in it. */
  folder: string
  /** Where an object of the client with this public token can be fetched. */
  urlOf(key: ObjectKey, client: Pick<Client, 'token'>): string
}

/**
 * Buckets as folders of a disk. A file appears under its name only when all of it is there: it is written under a
 * temporary name, flushed, renamed, and the folder is flushed, so that neither a crash nor a power cut leaves a part.
 * Several processes may share the folder. What a killed one leaves under temporary names, {@link Buckets.sweep} removes.
 */
export async function diskBuckets({ folder, urlOf }: DiskBucketOptions): Promise<Buckets> {
  const temporary = join(folder, '.tmp')
  await mkdir(temporary, { recursive: true })
  await flushFolder(dirname(folder))
  // Not the process's number, which is the same in many containers.
  const owner = randomUUID()
  let puts = 0
  return {
    of: ({ id, token }) =>
      diskBucket({
        root: join(folder, id),
        newTemporaryPath: () => join(temporary, `${owner}-${++puts}`),
        urlOf: (key) => urlOf(key, { token }),
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
}: {
  root: string
  newTemporaryPath: () => string
  urlOf: Bucket['urlOf']
}): Bucket {
  const pathOf = (key: ObjectKey) => join(root, key)
  return {
    urlOf,

    async find(key, known) {
      const path = pathOf(key)
      const found = await unlessMissing(stat(path))
      if (!found?.isFile()) return undefined
      const mediaType = known?.mediaType ?? (await mediaTypeOf(key, path))
      return diskAsset(path, { size: found.size, lastModified: found.mtime, mediaType })
    },

    async put(key, bytes, { signal }) {
      const temporary = newTemporaryPath()
      // `flush` is an fsync before the close.
      const file = createWriteStream(temporary, {
        ...{ flags: 'wx', mode: 0o600, flush: true },
        // While one write is under way, what comes is gathered for the next.
        highWaterMark: PIECE_BYTES,
      })
      const closed = new Promise<void>((done) => file.once('close', () => done()))
      try {
        await pipeline(bytes, file, signal ? { signal } : {})
        signal?.throwIfAborted()
        const path = pathOf(key)
        await renameInto(temporary, path, root)
      } catch (error) {
        // Until it is closed it may still be about to be opened, and would appear after its removal.
        file.destroy()
        await closed
        await rm(temporary, { force: true })
        throw isFull(error) ? storageFull(error) : error
      }
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

    // Temporary names tell no keys: what is under them goes with the sweep of all.
    async abortPuts() {},

    async *list(prefix) {
      // The folder that all keys with this prefix lie under; below it the whole key decides.
      const start = join(root, prefix.slice(0, prefix.lastIndexOf('/') + 1))
      for await (const path of walk(start)) {
        const key = relative(root, path)
        if (key.startsWith(prefix) && isKey(key)) yield storedKey(key)
      }
    },
  }
}

/** Somebody else may have put files beside ours whose names no key has. */
function isKey(text: string): boolean {
  try {
    storedKey(text)
    return true
  } catch {
    return false
  }
}

function diskAsset(path: string, known: Pick<Asset, 'size' | 'lastModified' | 'mediaType'>): Asset {
  return {
    ...known,
    async open({ range, signal, atOnce = false } = {}) {
      const file = await unlessMissing(open(path, 'r'))
      if (!file) throw fileNotFound()
      if (signal?.aborted) {
        await file.close()
        throw signal.reason
      }
      const { start, end } = range ?? { start: 0, end: known.size - 1 }
      const length = end - start + 1
      if (atOnce || length <= PIECE_BYTES) return onePiece(file, start, length)
      return createReadStream('', {
        fd: file,
        ...{ start, end, highWaterMark: PIECE_BYTES },
        ...(signal ? { signal } : {}),
      })
    },
  }
}

/**
 * Reads it at once and lets go of the file: of a small one, a stream that reads costs more than the reading, and of one
 * that is wanted as a whole its pieces are as much again for the garbage collector.
 */
async function onePiece(file: FileHandle, start: number, length: number): Promise<Readable> {
  const bytes = Buffer.allocUnsafe(length)
  let read = 0
  try {
    // A disk that is a network away may give less than it is asked for.
    for (let more = -1; read < length && more !== 0; read += more) {
      more = (await file.read(bytes, read, length - read, start + read)).bytesRead
    }
  } finally {
    await file.close()
  }
  const stream = new Readable({ read() {} })
  if (read > 0) stream.push(bytes.subarray(0, read))
  stream.push(null)
  return stream
}

/**
 * An original's type stands in its key, a derivative's only in its bytes: a plugin may have chosen any. Sluice asks
 * its index first and comes here when that has been emptied, or for its own records.
 */
async function mediaTypeOf(key: ObjectKey, path: string): Promise<string> {
  const name = parseKey(key)
  if (name && name.variant === undefined) return name.format.mediaType
  const file = await unlessMissing(open(path, 'r'))
  if (!file) return 'application/octet-stream'
  try {
    return (await sniff(await headOf(file), key)).mediaType
  } finally {
    await file.close()
  }
}

async function headOf(file: FileHandle): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(SNIFF_BYTES), 0, SNIFF_BYTES, 0)
  return buffer.subarray(0, bytesRead)
}

/** Renames and flushes the folder, which a delete that empties it may remove under our hands, before and after. */
async function renameInto(temporary: string, path: string, root: string): Promise<void> {
  const folder = dirname(path)
  let made = false
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (await mkdir(folder, { recursive: true, mode: 0o700 })) made = true
      await rename(temporary, path)
      break
    } catch (error) {
      if (!isMissing(error) || attempt === FOLDER_ATTEMPTS) throw error
    }
  }
  // From here on the file is stored: when its folder is missing, it has been deleted since.
  await unlessMissing(flushFolder(folder))
  if (made) await flushParents(folder, root)
}

/** A new folder's name is an entry of its parent, which has to be flushed as well; the root is a new folder once. */
async function flushParents(path: string, root: string): Promise<void> {
  for (let folder = path; folder.length >= root.length; folder = dirname(folder))
    await unlessMissing(flushFolder(dirname(folder)))
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function removeEmptyFolders(path: string, root: string): Promise<void> {
  for (let folder = path; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder)
    } catch {
      // Not empty: somebody else's files are in it.
      return
    }
  }
}

/** Piece by piece: a folder of 100,000 files read at once would hold the event loop for a quarter of a second. */
async function* walk(folder: string): AsyncGenerator<string> {
  const entries = await unlessMissing(opendir(folder, { bufferSize: 256 }))
  if (!entries) return
  for await (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* walk(path)
    else if (entry.isFile()) yield path
  }
}

/**
 * The outcome, or undefined when there is no such file: also when a folder of its path is a file, or has a name of more
 * than the 255 bytes that a disk takes.
 */
async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}
