import { readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'

export async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'sluice-test-'))
}

/**
 * The paths in a folder that this process has open: proc(5), fd. Empty where the system does not tell. Other files are
 * not counted, because earlier tests may still close theirs.
 */
export function openFilesIn(folder: string): string[] {
  return descriptors()
    .map(pathOf)
    .filter((path) => path.startsWith(folder + sep))
}

function descriptors(): string[] {
  try {
    return readdirSync('/proc/self/fd')
  } catch {
    return []
  }
}

function pathOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return ''
  }
}
