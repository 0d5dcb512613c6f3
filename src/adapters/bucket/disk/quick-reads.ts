import {
  constants,
  openSync,
  open as openThen,
  readSync,
  read as readThen,
  renameSync,
  type Stats,
  statSync,
  writeSync,
  write as writeThen,
} from 'node:fs'
import { rename, stat, statfs } from 'node:fs/promises'
import { promisify } from 'node:util'
import { meansMissing, unlessMissing } from './folders.ts'

type Now<T> = T | Promise<T>

/**
 * How files are opened for reading. The path of a file that was found may be a pipe by now: without `O_NONBLOCK` this waits for its
 * writer, and in the event loop it stops the whole service. For files, the flag has no effect.
 */
export const READING = constants.O_RDONLY | constants.O_NONBLOCK
const CREATING = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
const PRIVATE = 0o600

/** The calls that may wait for a disk. They return their result at once, or its promise. */
export interface FileCalls {
  readonly inThreads: boolean
  /** Undefined when the file does not exist. */
  stat(path: string): Now<Stats | undefined>
  /** Opens a file for reading. Undefined when it does not exist. */
  open(path: string): Now<number | undefined>
  /** Reads bytes at `position` into `into`. @returns their number, less than the length of `into` at the end of the file */
  read(file: number, into: Uint8Array, position: number): Now<number>
  /** Creates a file for writing, which only this user can read. @throws Error EEXIST */
  create(path: string): Now<number>
  /** Writes bytes at `position`. @returns their number, which may be less than the length of `bytes` */
  write(file: number, bytes: Uint8Array, position: number): Now<number>
  /** @throws Error ENOENT when the new folder does not exist */
  rename(from: string, to: string): Now<void>
}

/** Decides how small files are read and written: in the event loop, or in a thread. */
export interface QuickReads {
  /** The calls to use next. */
  calls(): FileCalls
}

// By statfs(2) of Linux: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, tmpfs, and the overlays of containers, whose layers are local.
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630,
])

// A read of cached bytes takes 5 µs.
const SLOW_MS = 1
// Five seeks of a magnetic disk.
const MOST_BLOCKED_MS = 50
// Blocked milliseconds that are regained in each millisecond.
const REGAINED = 1 / 20

/**
 * Calls of a disk of this machine are made in the event loop: a call in a thread costs 25 µs of CPU time, four times as much as
 * reading a small file that the system has in its cache. Slow calls delay all other requests, so they take at most 50 ms, and a
 * twentieth of the time. Beyond that, calls are made in threads. Those of any other disk, such as NFS, always are: it may not respond
 * for minutes.
 *
 * @param options.clock milliseconds
 */
export function quickReads({
  isLocal,
  clock = () => performance.now(),
}: {
  isLocal: boolean
  clock?: () => number
}): QuickReads {
  let left = MOST_BLOCKED_MS
  let at = clock()
  const timed = <T>(call: () => T): T => {
    const startedAt = clock()
    try {
      return call()
    } finally {
      const ms = clock() - startedAt
      if (ms > SLOW_MS) left -= ms
    }
  }
  const mayBlock = () => {
    const now = clock()
    left = Math.min(MOST_BLOCKED_MS, left + (now - at) * REGAINED)
    at = now
    return left > 0
  }
  const inLoop: FileCalls = {
    inThreads: false,
    stat: (path) => timed(() => orMissing(() => statSync(path, { throwIfNoEntry: false }))),
    open: (path) => timed(() => orMissing(() => openSync(path, READING))),
    read: (file, into, position) => timed(() => readSync(file, into, 0, into.length, position)),
    create: (path) => timed(() => openSync(path, CREATING, PRIVATE)),
    write: (file, bytes, position) => timed(() => writeSync(file, bytes, 0, bytes.length, position)),
    rename: (from, to) => timed(() => renameSync(from, to)),
  }
  return { calls: () => (isLocal && mayBlock() ? inLoop : IN_THREADS) }
}

/** Whether the folder is on a disk of this machine. */
export async function isOnLocalDisk(folder: string): Promise<boolean> {
  return LOCAL_FILE_SYSTEMS.has((await statfs(folder)).type)
}

const openFile = promisify(openThen)
const readFile = promisify(readThen)
const writeFile = promisify(writeThen)

/** The calls for larger files, and for disks that are not quick. */
export const IN_THREADS: FileCalls = {
  inThreads: true,
  stat: (path) => unlessMissing(stat(path)),
  open: (path) => unlessMissing(openFile(path, READING)),
  read: async (file, into, position) => (await readFile(file, into, 0, into.length, position)).bytesRead,
  create: (path) => openFile(path, CREATING, PRIVATE),
  write: async (file, bytes, position) =>
    (await writeFile(file, bytes, 0, bytes.length, position)).bytesWritten,
  rename: (from, to) => rename(from, to),
}

function orMissing<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch (error) {
    if (meansMissing(error)) return undefined
    throw error
  }
}
