import type { Source } from './chunks.ts'

interface Stats {
  size: number
  mtimeMs: number
  ino: number
  isFile(): boolean
}

/** The members of node:fs that are used. */
interface FileSystem {
  promises: {
    stat(path: string): Promise<Stats>
    open(path: string): Promise<{
      stat(): Promise<Stats>
      read(bytes: Uint8Array, offset: number, length: number, at: number): Promise<{ bytesRead: number }>
      close(): Promise<void>
    }>
  }
  openAsBlob?(path: string): Promise<Blob>
}

// A larger chunk is read while it is sent. Parts of direct uploads have up to 525 MiB, and three are sent at a time.
const READ_BYTES = 32 * 1024 * 1024

/** Opens a file of this machine. Without an import of `node:fs`, which bundlers for browsers would refuse. */
export async function openPath(path: string, name: string | undefined): Promise<Source> {
  const { process } = globalThis as unknown as {
    process?: { getBuiltinModule?(name: string): FileSystem | undefined }
  }
  const fs = process?.getBuiltinModule?.('node:fs')
  if (!fs) throw new TypeError('a path needs Node, Bun or Deno')
  const file = await fs.promises.open(path)
  const { size, mtimeMs, ino } = await statOf(file, path)
  const changed = () => new TypeError(`${path} was changed during the upload`)
  return {
    name: name ?? path.split(/[/\\]/).at(-1) ?? '',
    size,
    fingerprint: JSON.stringify([path, size, mtimeMs]),
    isReplayable: true,
    async chunk(from, maxBytes) {
      const end = Math.min(size, from + maxBytes)
      if (end - from > READ_BYTES && fs.openAsBlob) {
        const whole = await fs.openAsBlob(path)
        const now = await fs.promises.stat(path)
        if (whole.size !== size || now.mtimeMs !== mtimeMs || now.ino !== ino) throw changed()
        return { bytes: whole.slice(from, end), isLast: end === size }
      }
      const bytes = new Uint8Array(Math.max(0, end - from))
      for (let filled = 0; filled < bytes.length; ) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled)
        if (bytesRead === 0) throw changed()
        filled += bytesRead
      }
      return { bytes: new Blob([bytes]), isLast: from + bytes.length === size }
    },
    close: () => file.close(),
  }
}

async function statOf(file: Awaited<ReturnType<FileSystem['promises']['open']>>, path: string) {
  const stats = await file.stat()
  if (stats.isFile()) return stats
  await file.close()
  throw new TypeError(`${path} is not a file`)
}
