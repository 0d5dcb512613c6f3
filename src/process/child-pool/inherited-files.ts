import { closeSync, readdirSync, readlinkSync } from 'node:fs'
import { isFileLink } from '../../core/text/descriptor.ts'

/**
 * Closes inherited file descriptors of files. LevelDB opens its files without O_CLOEXEC, so a child could write into the
 * index. Call it before this process opens files itself. Linux only: on other systems it does nothing.
 */
export function closeInheritedFiles(): void {
  for (const fd of namesIn('/proc/self/fd').map(Number)) {
    try {
      if (fd > 2 && isFileLink(readlinkSync(`/proc/self/fd/${fd}`))) closeSync(fd)
    } catch {
      // The descriptor of the directory listing itself, which is already closed.
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
