import type { ListedFile, SluiceClient } from '../../../../../client/index.ts'
import { folderOf, type Item, parentOf } from '../list/items.ts'

/** A file of the selection. */
export interface SelectedFile {
  file: ListedFile
  /** Its folder within the selection: empty for a selected file, else the selected folder and what is below it. */
  below: string
}

/** All files of a selection, also those in its folders. At most `most`, and one more when there are more. */
export async function filesOf(
  sluice: SluiceClient,
  items: readonly Item[],
  { most = Number.POSITIVE_INFINITY, signal }: { most?: number; signal?: AbortSignal } = {},
): Promise<SelectedFile[]> {
  const files: SelectedFile[] = []
  for (const item of items) {
    if (item.kind === 'file') {
      files.push({ file: item.file, below: '' })
      continue
    }
    const above = parentOf(item.folder.path)
    const cut = above === '' ? 0 : above.length + 1
    const options = { prefix: item.folder.path, sort: 'key', limit: 1000, ...(signal && { signal }) } as const
    for await (const file of sluice.files.list(options)) {
      files.push({ file, below: folderOf(file.s3PathOriginal).slice(cut) })
      if (files.length > most) return files
    }
  }
  return files
}

/** The number and the size of all files of a selection, without a request. */
export function sizeOf(items: readonly Item[]): { files: number; bytes: number } {
  return items.reduce(
    ({ files, bytes }, item) =>
      item.kind === 'file'
        ? { files: files + 1, bytes: bytes + item.file.size }
        : { files: files + item.folder.files, bytes: bytes + item.folder.bytes },
    { files: 0, bytes: 0 },
  )
}
