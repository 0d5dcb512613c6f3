import { isWithin } from '../../core/clients/secret-scope.ts'
import type { OriginalName } from '../../core/files/object-key.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import { folded } from '../../core/text/folded.ts'

/** The filters of a list. All that are set must match. */
export interface Filters {
  /** A folder from `parseFolder`: only files in it or below. Empty: all files. */
  folder: string
  /** Only files in the folder itself, not below it. Without a folder: only files in no folder. */
  isDirect?: boolean
  group?: MediaGroup | undefined
  /** A substring of the original file name, case-insensitive. */
  search?: string | undefined
  tag?: string | undefined
  /** When the file was stored, in milliseconds since 1970: from the first instant, before the second one. */
  storedFrom?: number | undefined
  storedBefore?: number | undefined
}

/** Whether files may be filtered out, by their key or by their record. */
export function hasFilters(filters: Filters): boolean {
  const { search, tag, storedFrom, storedBefore } = filters
  return hasKeyFilters(filters) || [search, tag, storedFrom, storedBefore].some((one) => one !== undefined)
}

/** Whether files may be filtered out by {@link matchesKey}. */
export function hasKeyFilters({ folder, isDirect, group }: Filters): boolean {
  return folder !== '' || isDirect === true || group !== undefined
}

/** Compares what the key of a file states, so that its record need not be read. */
export function matchesKey(name: OriginalName, { folder, isDirect, group }: Filters): boolean {
  if (isDirect && name.folder !== folder) return false
  // A prefix of the key does not suffice: a key without a folder begins with its group, which may also be a folder's name.
  return isWithin(name.folder, folder) && (group === undefined || name.format.group === group)
}

/** Compares what only the record of a file states. */
export function matchesRecord(record: OriginalRecord, filters: Filters): boolean {
  const { tags, originalName, storedAt } = record
  const { search, tag, storedFrom = 0, storedBefore = Number.POSITIVE_INFINITY } = filters
  if (storedAt < storedFrom || storedAt >= storedBefore) return false
  if (tag !== undefined && !tags?.includes(tag)) return false
  return search === undefined || folded(originalName).includes(folded(search))
}
