import { closeSync, readdirSync, readlinkSync } from 'node:fs'
import { isFileLink } from '../../core/text/descriptor.ts'

/**
 * Closes the files that this process has inherited: LevelDB opens its files without O_CLOEXEC, so a child could write into the
 * index. To be called while this process has opened none itself. Linux only: elsewhere nothing is closed.
 */
export function closeInheritedFiles(): void {
  for (const fd of namesIn('/proc/self/fd').map(Number)) {
    try {
      if (fd > 2 && isFileLink(readlinkSync(`/proc/self/fd/${fd}`))) closeSync(fd)
    } catch {
      // That of the list itself, which is closed by now.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
