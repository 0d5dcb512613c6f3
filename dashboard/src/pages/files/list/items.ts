import type { Folder, ListedFile } from '../../../../../client/index.ts'

/** A row or tile: a folder, or a file. */
export type Item = { id: string; name: string } & (
  | { kind: 'folder'; folder: Folder }
  | { kind: 'file'; file: ListedFile }
)

export function folderItem(folder: Folder): Item {
  return { id: `folder ${folder.path}`, name: folder.name, kind: 'folder', folder }
}

export function fileItem(file: ListedFile): Item {
  return { id: file.s3PathOriginal, name: nameOf(file), kind: 'file', file }
}

/** The name for people. Files from other tools may have none. */
export function nameOf(file: ListedFile): string {
  return file.originalName || file.sourceName
}

/** The folder of a key: `[folder/]<type>/<format>/<sourceName>`. Empty: no folder. */
export function folderOf(key: string): string {
  return key.split('/').slice(0, -3).join('/')
}

export function parentOf(folder: string): string {
  return folder.split('/').slice(0, -1).join('/')
}

/** A path with one more folder or name. */
export function joined(folder: string, name: string): string {
  return folder === '' ? name : name === '' ? folder : `${folder}/${name}`
}
