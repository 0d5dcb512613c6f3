import { badParameter } from '../../core/problem.ts'

/** A field of a form, or of the metadata of tus, that names the folder. */
export interface FolderField {
  param: string
  value: string
}

/** Whether a field names the folder. */
export function isFolderField(name: string): boolean {
  return name === 'path' || name === 'folder'
}

/** @throws Problem 400 when two fields name different folders */
export function checkSameFolder({ param, value }: FolderField, other: FolderField | undefined): void {
  if (other === undefined || other.value === value) return
  throw badParameter({
    param,
    expected: `the same value as ${other.param} (or send only one of them)`,
    received: value,
  })
}
