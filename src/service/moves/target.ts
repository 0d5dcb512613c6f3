import { newFileId, newOriginal, type OriginalName, original } from '../../core/files/object-key.ts'
import { badParameter, Problem } from '../../core/problem.ts'

/** Where a copy of an original is stored. */
export interface CopyTarget {
  /** As returned by `parseFolder`; empty for the top level. */
  folder: string
  /** Absent: the copy has a new id. Else it is the name of the source: the copy retains the id. */
  sourceName?: string
}

/**
 * The name of a copy. A copy with a requested name must retain the id of its source: so an id always means the same bytes, and
 * no cache that has a deleted file can deliver it in place of the copy.
 *
 * @throws Problem 400 for the name of another file
 */
export function copyName(source: OriginalName, { folder, sourceName }: CopyTarget): OriginalName {
  if (sourceName === undefined) return newOriginal({ folder, format: source.format, id: newFileId() })
  if (sourceName === source.sourceName) return original(folder, source.format, sourceName)
  throw badParameter({
    param: 'to',
    expected: `a folder, or a path that ends with ${source.sourceName}`,
    received: sourceName,
  })
}

/** 409: the target of a copy is not free. */
export function fileExists(): Problem {
  return new Problem({
    status: 409,
    code: 'file_exists',
    detail: 'A file with this path exists, is in the trash, or is being deleted.',
  })
}
