import type { FileRecord } from './generated/api.ts'

/** A file: its record, or its path. Paths are those that uploads return, `[folder/]<sourceName>` or `s3PathOriginal`. */
export type FileRef = string | Pick<FileRecord, 's3PathOriginal'>

/** The path of a file. */
export function pathOf(file: FileRef): string {
  return typeof file === 'string' ? file : file.s3PathOriginal
}
