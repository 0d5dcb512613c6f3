import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { byBytes } from '../../../core/text/byte-order.ts'
import { unlessMissing } from './folders.ts'

// Names held at a time: a megabyte. A folder of a million files is read a hundred times, which takes as many seconds.
const PAGE = 10_000

/**
 * Yields the paths of all files below a folder that come after `last`, in the order of the bytes of their paths. It reads a folder once for
 * each 10,000 entries, so that a folder of any size needs little memory.
 *
 * @param last a path below the folder; empty for all files
 */
export async function* walkInOrder(folder: string, last: string): AsyncGenerator<string> {
  // A folder that contains `last`, or a part of it, is entered again.
  const isDue = (path: string) => byBytes(path, last) > 0 || last.startsWith(path)
  for (let after = ''; ; ) {
    const page = await firstAfter(folder, after, (name) => isDue(join(folder, name)))
    for (const name of page) {
      const path = join(folder, name)
      if (name.endsWith('/')) yield* walkInOrder(path, last)
      else if (byBytes(path, last) > 0) yield path
    }
    if (page.length < PAGE) return
    after = page.at(-1) ?? ''
  }
}

/** The first entries of a folder after a name, in order. Those of folders end with a slash, as they do in the paths of their files. */
async function firstAfter(
  folder: string,
  after: string,
  isDue: (name: string) => boolean,
): Promise<string[]> {
  const entries = await unlessMissing(opendir(folder, { bufferSize: 256 }))
  let first: string[] = []
  for await (const entry of entries ?? []) {
    const name = nameOf(entry)
    if (name === undefined || byBytes(name, after) <= 0 || !isDue(name)) continue
    first.push(name)
    if (first.length >= 2 * PAGE) first = first.sort(byBytes).slice(0, PAGE)
  }
  return first.sort(byBytes).slice(0, PAGE)
}

function nameOf(entry: Dirent): string | undefined {
  if (entry.isDirectory()) return `${entry.name}/`
  return entry.isFile() ? entry.name : undefined
}
