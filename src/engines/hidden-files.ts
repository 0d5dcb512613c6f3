import { openSync, readdirSync, readlinkSync } from 'node:fs'

let nothing: number | undefined

/**
 * Standard input, output and errors of a program that reads strangers' files, and `/dev/null` in the place of each file that
 * this process has open: LevelDB opens its files without O_CLOEXEC, so the program could write into the index. Linux only:
 * elsewhere programs inherit them.
 */
export function withHiddenFiles(stdio: readonly ['ignore', 'pipe', 'pipe']): ['ignore', 'pipe', 'pipe'] {
  nothing ??= openSync('/dev/null', 'r+')
  const all: unknown[] = [...stdio]
  for (const fd of openFiles()) {
    // What is ignored from 3 on stays as it is: sockets and pipes, which are closed anyway.
    while (all.length < fd) all.push('ignore')
    all[fd] = nothing
  }
  // The type of the first three, which decide the type that `spawn` returns.
  return all as ['ignore', 'pipe', 'pipe']
}

/** Descriptors of files with a path, from 3 on. */
function openFiles(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number).filter(isFile)
  } catch {
    return []
  }
}

function isFile(fd: number): boolean {
  try {
    return fd > 2 && /^\/(?!dev\/|proc\/)/.test(readlinkSync(`/proc/self/fd/${fd}`))
  } catch {
    // That of the list itself, which is closed by now.
    return false
  }
}
