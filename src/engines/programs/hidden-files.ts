import { openSync, readlinkSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate as otherWork } from 'node:timers/promises'
import { isFileLink } from '../../core/text/descriptor.ts'

// One lookup takes 3 µs. With thousands of connections, all lookups in one go would block every request for tens of
// milliseconds. With promises each would take longer, and a thread that reads and writes files.
const LOOKS_AT_ONCE = 256

let devNull: number | undefined

/**
 * The stdio of a program that reads untrusted files, with `/dev/null` in place of each file that this process has
 * open: LevelDB opens its files without O_CLOEXEC, so the program could write into the index. Use the result at once:
 * files that are opened later are not hidden. Linux only: on other systems programs inherit the files.
 */
export async function withHiddenFiles(
  stdio: readonly ['ignore' | number, 'pipe', 'pipe'],
): Promise<['ignore', 'pipe', 'pipe']> {
  devNull ??= openSync('/dev/null', 'r+')
  const all: unknown[] = [...stdio]
  for (const fd of await openFiles()) {
    // From descriptor 3 on, `ignore` leaves a descriptor as it is. These are sockets and pipes, which are closed in
    // the child anyway.
    while (all.length < fd) all.push('ignore')
    all[fd] = devNull
  }
  // The type of the first three entries determines the type that `spawn` returns.
  return all as ['ignore', 'pipe', 'pipe']
}

/** Descriptors of files with a path, from 3 on, in ascending order. */
async function openFiles(): Promise<number[]> {
  const open = (await readdir('/proc/self/fd').catch(() => [])).map(Number)
  const files: number[] = []
  for (let at = 0; at < open.length; at += LOOKS_AT_ONCE) {
    if (at > 0) await otherWork()
    files.push(...open.slice(at, at + LOOKS_AT_ONCE).filter(isFile))
  }
  return files
}

function isFile(fd: number): boolean {
  try {
    return fd > 2 && isFileLink(readlinkSync(`/proc/self/fd/${fd}`))
  } catch {
    // Closed by now, as the descriptor of the directory itself.
    return false
  }
}
