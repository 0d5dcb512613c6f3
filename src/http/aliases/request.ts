import type { Request } from 'express'
import { z } from 'zod'
import { parseAliasName } from '../../core/aliases/name.ts'
import { boundedInteger } from '../../core/bounded-schemas.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import { isWithin } from '../../core/clients/secret-scope.ts'
import { parentFolder } from '../../core/files/folder.ts'
import { aliasNotFound } from '../../service/aliases/alias-problems.ts'
import { folderIn } from '../files/list-query.ts'
import { checkNames, onlyValue, pageLimit, queryPairs, wildcardPath } from '../request.ts'

/** The file of an alias. */
export const aliasTarget = z.strictObject(
  {
    file: z
      .string('a path')
      .describe('Path of an original: its key, or `[folder/]<sourceName>`, not percent-encoded.'),
  },
  'an object of file',
)

/** The version that a rollback restores. */
export const aliasRollback = z.strictObject(
  {
    version: boundedInteger({ min: 1, max: Number.MAX_SAFE_INTEGER })
      .describe('Number of the version to restore. Default: the previous one.')
      .optional(),
  },
  'an object of version',
)

/** The name in the path of a request. For a secret with a folder, aliases outside of it do not exist. @throws Problem 400, 404 */
export function aliasNameIn(req: Request, { folder = '' }: Pick<Grant, 'folder'>): string {
  const name = parseAliasName(wildcardPath(req))
  if (!isWithin(parentFolder(name), folder)) throw aliasNotFound()
  return name
}

/** The same for an alias that may be new. @throws Problem 400, 403 outside of the folder of the secret */
export function newAliasNameIn(req: Request, grant: Pick<Grant, 'folder'>): string {
  const name = parseAliasName(wildcardPath(req))
  folderWithin(parentFolder(name), grant)
  return name
}

/** The validated query of a list. `cursor` is still sealed. */
export interface AliasListQuery {
  folder: string
  limit: number
  cursor: string | undefined
}

/** Parses the query of a list of aliases. @throws Problem 400 */
export function readAliasListQuery(req: Request): AliasListQuery {
  const query = queryPairs(req)
  checkNames(query, ['prefix', 'limit', 'cursor'])
  return {
    folder: folderIn(onlyValue(query, 'prefix')),
    limit: pageLimit(query),
    cursor: onlyValue(query, 'cursor'),
  }
}
