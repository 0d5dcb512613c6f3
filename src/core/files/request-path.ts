import { formatMeant } from '../media/free-extension.ts'
import type { MediaGroup } from '../media/groups.ts'
import { badPath } from '../problem.ts'
import { isRecords, type OriginalName, original, parseKey, pathDefect, SOURCE_NAME } from './object-key.ts'

/** The possible meanings of a request's path, in the order in which they are tried. */
export interface PathCandidates {
  /** The path as the full key of an original, or of a derivative or a part of one (`variant` set). */
  full?: OriginalName & { variant?: string }
  /** The path as `[folder/]<sourceName>`. */
  short?: OriginalName
}

/**
 * Parses and checks the path of a request, which is percent-decoded once already.
 *
 * @param group the group in the URL; a short path of another group has no meaning
 * @throws Problem 400 for a path that no file can have
 */
export function parsePath(
  path: string,
  { group, param = 'path' }: { group?: MediaGroup; param?: string } = {},
): PathCandidates {
  const expected = pathDefect(path)
  if (expected) throw badPath({ param, expected, received: path })
  const meanings: PathCandidates = {}
  const full = parseKey(path)
  if (full) meanings.full = full

  const slash = path.lastIndexOf('/')
  const sourceName = path.slice(slash + 1)
  const folder = slash === -1 ? '' : path.slice(0, slash)
  const format = formatMeant(SOURCE_NAME.exec(sourceName)?.[1] ?? '', group)
  if (format && !isRecords(folder.split('/')[0])) {
    meanings.short = original(folder, format, sourceName)
  }
  return meanings
}

/** The candidates of a path, in the order in which a reader tries them: `variant` is set for a file of a derivative. */
export function readCandidates({ full, short }: PathCandidates): Array<OriginalName & { variant?: string }> {
  return [full, ...(short?.key === full?.key ? [] : [short])].filter((name) => name !== undefined)
}

/** The originals that a path may name, in the order in which they are tried. A path of a derivative is not included. */
export function originalCandidates({ full, short }: PathCandidates): OriginalName[] {
  return [...(full?.variant === undefined ? [full] : []), short].filter((name) => name !== undefined)
}
