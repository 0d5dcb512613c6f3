import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import { parseFolder, parseKey, SOURCE_NAME } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { parseDuration } from '../../core/text/duration.ts'
import type { NamedPath } from '../../service/files/batch.ts'
import type { CopyTarget } from '../../service/moves/target.ts'
import { meaningsOf } from '../files/batch.ts'

/** A file to copy or move. An invalid path becomes an outcome of its own. */
export interface NamedCopy extends NamedPath {
  to: CopyTarget | Problem
  /** At least 1000. */
  redirectMs?: number | undefined
}

/** Reads a file to copy or move. @param param its place in the body */
export function namedCopy(copy: { from: string; to: string }, param: string, grant: Grant): NamedCopy {
  return {
    path: copy.from,
    meanings: meaningsOf(copy.from, `${param}.from`, grant),
    to: targetOf(copy.to, `${param}.to`, grant),
  }
}

/** @returns a Problem for an invalid target, or one outside the folder of the secret */
function targetOf(text: string, param: string, grant: Grant): CopyTarget | Problem {
  try {
    const { folder, sourceName } = parsedTarget(text, param)
    const within = folderWithin(parseFolder(folder === '' ? undefined : folder, param), grant) ?? ''
    return { folder: within, ...(sourceName === undefined ? {} : { sourceName }) }
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** No folder may end with the name of a stored file, so a text is either a path or a folder. */
function parsedTarget(text: string, param: string): CopyTarget {
  const slash = text.lastIndexOf('/')
  const sourceName = text.slice(slash + 1)
  if (!SOURCE_NAME.test(sourceName)) return { folder: text.replace(/\/$/, '') }
  parsePath(text, { param })
  return { folder: parseKey(text)?.folder ?? text.slice(0, Math.max(0, slash)), sourceName }
}

/** How long former URLs redirect. @throws Problem 400 */
export function redirectMsOf(text: string, param: string): number {
  const ms = parseDuration(text)
  if (ms) return ms
  const expected = 'an integer from 1 and s, m, h or d (90m, 24h, 7d), at most 365d'
  throw badParameter({ param, expected, received: text })
}
