import type { Request } from 'express'
import { z } from 'zod'
import type { Alias } from '../../core/aliases/alias.ts'
import { aliasUrl } from '../../core/aliases/alias-url.ts'
import { parseAliasName } from '../../core/aliases/name.ts'
import type { Client } from '../../core/clients/client.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import { isWithin } from '../../core/clients/secret-scope.ts'
import { parentFolder } from '../../core/files/folder.ts'
import { Problem } from '../../core/problem.ts'
import { aliasNotFound } from '../../service/aliases/alias-problems.ts'
import type { Aliases, DescribedAlias, DescribedVersion } from '../../service/aliases/aliases.ts'
import { ifMatchHolds } from '../delivery/conditional.ts'
import type { Success } from '../documents/endpoint.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { header } from '../documents/parameters.ts'
import { json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import type { Reply } from '../endpoint/reply.ts'
import { tagOf } from '../entity-tag.ts'
import { wildcardPath } from '../request.ts'
import { instant, iso } from '../wire/instant.ts'

/** The services of the endpoints for aliases. */
export interface AliasServices {
  aliases: Aliases
  baseUrl: string
}

const version = {
  version: z.int().min(1).describe('Number of the version. Each change of the file has the next number.'),
  file: z.string().describe('Key of the original.'),
  setAt: instant('When the alias was set to this file.'),
  missing: z.boolean().describe('Whether the file was deleted. Deliveries of the alias then return 404.'),
}

/** An alias with its current version, as lists have it. */
export const listedAlias = replyOf('ListedAlias', 'An alias with its current version.', {
  name: z.string().describe('Name of the alias: `products/chair.jpg`.'),
  src: z.url().describe('Delivery URL. Append parameters as a query string.'),
  ...version,
})

const alias = replyOf('Alias', 'An alias with its last versions.', {
  ...listedAlias.shape,
  versions: z
    .array(z.object(version))
    .describe('The last 20 versions, the newest first. The first one is the current version.'),
})

/** The response of one alias. */
export const ONE_ALIAS: Success = json(alias, 'The alias with its last versions.', ['ETag'])
export const IF_MATCH = header('If-Match', 'Changes the alias only if this is its current `ETag`.')

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

/** Refuses a change of another version than the one that `If-Match` names. @throws Problem 412 */
export function matching(req: Request): (present: Alias | undefined) => void {
  return (present) => {
    // No version of a new alias matches, not even `*`.
    const holds = present ? ifMatchHolds(req, etagOf(present)) : req.headers['if-match'] === undefined
    if (holds) return
    throw new Problem({
      status: 412,
      code: 'precondition_failed',
      detail: 'The alias was changed since it was read: If-Match is not its current ETag.',
    })
  }
}

interface Place {
  client: Client
  baseUrl: string
}

/** The response with an alias. */
export function aliasReply({ alias: found, versions }: DescribedAlias, place: Place): Reply {
  const body: z.input<typeof alias> = {
    ...listedToWire(found.name, versions[0], place),
    versions: versions.map(versionToWire),
  }
  return { json: body, headers: { ETag: etagOf(found) } }
}

/** An alias as lists have it. */
export function listedToWire(
  name: string,
  current: DescribedVersion,
  { client, baseUrl }: Place,
): z.input<typeof listedAlias> {
  const src = aliasUrl(name, { baseUrl, token: client.token, key: current.key })
  return { name, src, ...versionToWire(current) }
}

function versionToWire({ version: number, key, setAt, isMissing }: DescribedVersion) {
  return { version: number, file: key, setAt: iso(setAt), missing: isMissing }
}

/** The ETag of an alias and its versions. */
function etagOf({ versions }: Alias): string {
  return `"${tagOf(JSON.stringify(versions))}"`
}

const exampleOf = (number: number, file: string, setAt: string) => ({
  version: number,
  file,
  setAt,
  missing: false,
})
const FORMER = exampleOf(1, 'image/jpeg/4Qe8Zg2VYxwPnBs7uT6cRk.jpg', '2026-11-30T12:00:00.000Z')

/** Values of the examples: an alias whose file was replaced once. */
export const ALIAS_EXAMPLE = {
  path: { path: EXAMPLE.alias },
  place: {
    name: EXAMPLE.alias,
    src: `${EXAMPLE.baseUrl}/v1/image/alias/${EXAMPLE.token}/${EXAMPLE.alias}`,
  },
  former: FORMER,
  current: exampleOf(2, EXAMPLE.key, '2026-12-01T12:00:00.000Z'),
  rolledBack: exampleOf(3, FORMER.file, '2026-12-02T12:00:00.000Z'),
  first: exampleOf(1, EXAMPLE.key, '2026-12-01T12:00:00.000Z'),
}
