import { readFile } from 'node:fs/promises'

/** Names the time since the machine was started; undefined where the system has no such name (only Linux has one). */
export async function bootId(): Promise<string | undefined> {
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  } catch {
    return undefined
  }
}
