import { joined, nameOf } from '../list/items.ts'
import type { SelectedFile } from './files-of.ts'

export type ZipNames = 'original' | 'folders' | 'numbered'

/** The names of files in an archive, all different. `extensionOf`: the extension of a transformed file, else undefined. */
export function zipNames(
  files: readonly SelectedFile[],
  names: ZipNames,
  extensionOf: (file: SelectedFile) => string | undefined,
): string[] {
  const used = new Set<string>()
  return files.map((one, index) => {
    const extension = extensionOf(one)
    const original = nameOf(one.file)
    const name = extension === undefined ? original : `${original.replace(/\.[^.]*$/, '')}.${extension}`
    const wanted =
      names === 'numbered'
        ? `${String(index + 1).padStart(3, '0')} ${name}`
        : names === 'folders'
          ? joined(one.below, name)
          : name
    let free = wanted
    for (let copy = 2; used.has(free.toLowerCase()); copy += 1)
      free = wanted.replace(/(\.[^./]*)?$/, (end) => ` (${copy})${end}`)
    used.add(free.toLowerCase())
    return free
  })
}
