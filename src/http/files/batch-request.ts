import { z } from 'zod'
import { boundedArray, boundedInteger } from '../../core/bounded-schemas.ts'
import { candidatesInFolder, type Grant } from '../../core/clients/grant.ts'
import { commonFolder } from '../../core/clients/secret-scope.ts'
import { parseExistingFolder } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import type { NamedPath } from '../../service/files/batch.ts'
import { checkedBody } from '../body/parse.ts'

const PATHS_MAX = 1000
const EXPECTED_PATHS = `an array of 1 to ${PATHS_MAX} paths`

const somePaths = boundedArray(z.string('a path'), {
  min: 1,
  max: PATHS_MAX,
  expected: EXPECTED_PATHS,
}).describe('Paths as uploads return them in `s3PathOriginal`, not percent-encoded.')

/** A batch delete: exactly one of `paths`, `prefix` and `all`. */
export const deletion = z.strictObject(
  {
    paths: somePaths.optional(),
    prefix: z.string('a folder').describe('Folder whose files are deleted, with subfolders.').optional(),
    all: z.literal(true, 'true').describe('All files.').optional(),
    limit: boundedInteger({ min: 1, max: PATHS_MAX })
      .describe('Maximum number of files of this request, with `prefix` or `all`.')
      .optional(),
    now: z.boolean('true or false').describe('Deletes permanently, also with soft delete.').optional(),
  },
  'an object of paths, or of prefix or all and limit; and of now',
)
/** A batch restore. */
export const restoration = z.strictObject({ paths: somePaths }, 'an object of paths')

/** A batch delete: of paths, or of up to `limit` files of a folder. */
export type Deletion = { isPermanent: boolean } & (
  | { paths: NamedPath[] }
  /** Undefined `folder`: the requested folder is outside the scope of the secret. */
  | { paths?: undefined; folder: string | undefined; limit: number }
)

/** Validates the body of a batch delete. @throws Problem 400 */
export function readDeletion(body: unknown, grant: Grant): Deletion {
  const read = checkedBody(deletion, body)
  const { now, paths, prefix, all, limit } = read
  const isPermanent = now ?? false
  const given = [paths, prefix, all].filter((member) => member !== undefined)
  if (given.length !== 1 || (paths && limit !== undefined))
    throw badParameter({
      param: 'the body',
      expected: 'exactly one of paths, prefix or all (limit only with prefix or all)',
      received: Object.keys(read).join(', ') || undefined,
    })
  if (paths) return { isPermanent, paths: namedPaths(paths, grant) }
  if (prefix === '')
    throw badParameter({
      param: 'prefix',
      expected: 'a folder (for all files, send "all": true instead)',
      received: prefix,
    })
  const folder = prefix === undefined ? '' : parseExistingFolder(prefix.replace(/\/$/, ''), 'prefix')
  return { isPermanent, folder: commonFolder(folder, grant.folder ?? ''), limit: limit ?? PATHS_MAX }
}

/** Validates the body of a batch restore. @throws Problem 400 */
export function readRestoration(body: unknown, grant: Grant): NamedPath[] {
  return namedPaths(checkedBody(restoration, body).paths, grant)
}

/** Paths as an upload has returned them: not percent-encoded. An invalid path becomes an outcome of its own. */
function namedPaths(received: readonly string[], grant: Grant): NamedPath[] {
  return received.map((path, i) => ({ path, meanings: meaningsOf(path, `paths[${i}]`, grant) }))
}

/** The meanings of one path, or the reason why it is invalid. @param param names it in messages */
export function meaningsOf(path: string, param: string, grant: Grant): NamedPath['meanings'] {
  try {
    return candidatesInFolder(parsePath(path, { param }), grant)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}
