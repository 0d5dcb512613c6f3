import type { FolderFile } from '../queue/item.ts'

// Files that systems put into folders.
const SYSTEM_FILES = /^(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/

/** The files of a drop or a paste, with those of dropped folders. To be called while the event is dispatched. */
export function droppedFiles({ items, files }: DataTransfer): Promise<FolderFile[]> {
  // The browser clears the items when the event ends.
  const entries = [...items].flatMap((item) => {
    if (item.kind !== 'file') return []
    return [{ entry: item.webkitGetAsEntry?.() ?? undefined, file: item.getAsFile() ?? undefined }]
  })
  if (entries.length === 0) return Promise.resolve([...files].map((file) => ({ file, folder: '' })))
  return Promise.all(
    entries.map(async ({ entry, file }) => {
      if (entry?.isDirectory) return filesIn(entry as FileSystemDirectoryEntry, entry.name)
      return file ? [{ file, folder: '' }] : []
    }),
  ).then((lists) => lists.flat())
}

/** The files of an input. Those of a folder have their path in `webkitRelativePath`. */
export function chosenFiles(files: Iterable<File>): FolderFile[] {
  return [...files].flatMap((file) => {
    const folder = file.webkitRelativePath?.split('/').slice(0, -1).join('/') ?? ''
    return folder !== '' && SYSTEM_FILES.test(file.name) ? [] : [{ file, folder }]
  })
}

async function filesIn(directory: FileSystemDirectoryEntry, folder: string): Promise<FolderFile[]> {
  const reader = directory.createReader()
  const found: FolderFile[] = []
  for (;;) {
    // Chromium returns at most 100 entries at a time.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (entries.length === 0) return found
    for (const entry of entries) {
      if (entry.isDirectory)
        found.push(...(await filesIn(entry as FileSystemDirectoryEntry, `${folder}/${entry.name}`)))
      else if (!SYSTEM_FILES.test(entry.name))
        found.push({ file: await fileOf(entry as FileSystemFileEntry), folder })
    }
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}
