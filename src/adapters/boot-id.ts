import { readFile } from 'node:fs/promises'

/**
 * The identifier of the current boot of the machine. Undefined on systems other than Linux, which have no such
 * identifier.
 */
export async function bootId(): Promise<string | undefined> {
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  } catch {
    return undefined
  }
}
