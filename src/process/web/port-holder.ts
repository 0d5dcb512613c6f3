import { readdir, readFile, readlink } from 'node:fs/promises'

/**
 * Names the process that listens on a TCP port of this machine: `process 123 (node)`. On Linux, /proc shows this for
 * processes of the same user. In all other cases the result is `another process`.
 *
 * @see proc(5)
 */
export async function holderOfPort(port: number): Promise<string> {
  try {
    const sockets = await listeningSockets(port)
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
      for (const descriptor of descriptors) {
        const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')
        if (!sockets.has(target)) continue
        return `process ${pid} (${(await readFile(`/proc/${pid}/comm`, 'utf8')).trim()})`
      }
    }
  } catch {
    // /proc does not exist or is not readable.
  }
  return 'another process'
}

/** The listening sockets of a port, in the format of the links in /proc/<pid>/fd: `socket:[<inode>]`. */
async function listeningSockets(port: number): Promise<Set<string>> {
  const LISTEN = '0A'
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  const rows = tables.flatMap((table) => table.split('\n').slice(1)).map((line) => line.trim().split(/\s+/))
  const ours = rows.filter(([, local, , state]) => local?.endsWith(suffix) && state === LISTEN)
  return new Set(ours.map((fields) => `socket:[${fields[9]}]`))
}
