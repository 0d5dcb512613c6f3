import { isWithin } from '../../core/clients/secret-scope.ts'
import type { OriginalName } from '../../core/files/object-key.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import { folded } from '../../core/text/folded.ts'

/** The filters of a list. All that are set must match. */
export interface Filters {
  /** A folder from `parseFolder`: only files in it or below. Empty: all files. */
  folder: string
  group?: MediaGroup | undefined
  /** A substring of the original file name, case-insensitive. */
  search?: string | undefined
  tag?: string | undefined
}

/** Whether files from the index may be filtered out. */
export function hasFilters({ folder, group, search, tag }: Filters): boolean {
  return folder !== '' || [group, search, tag].some((filter) => filter !== undefined)
}

/** Compares what the key of a file states, so that its record need not be read. */
export function matchesKey(name: OriginalName, { folder, group }: Filters): boolean {
  // A prefix of the key does not suffice: a key without a folder begins with its group, which may also be a folder's name.
  return isWithin(name.folder, folder) && (group === undefined || name.format.group === group)
}

/** Compares what only the record of a file states. */
export function matchesRecord({ tags, originalName }: OriginalRecord, { search, tag }: Filters): boolean {
  if (tag !== undefined && !tags?.includes(tag)) return false
  return search === undefined || folded(originalName).includes(folded(search))
}
