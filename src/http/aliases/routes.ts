import { type Request, type Response, Router } from 'express'
import type { Alias } from '../../core/aliases/alias.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import type { Client } from '../../core/clients/client.ts'
import { candidatesInFolder } from '../../core/clients/grant.ts'
import { commonFolder } from '../../core/clients/secret-scope.ts'
import { parseKey } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { Problem } from '../../core/problem.ts'
import type { Aliases, DescribedAlias, DescribedVersion } from '../../service/aliases/aliases.ts'
import type { ListAliases } from '../../service/aliases/list.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { jsonBody } from '../body/json.ts'
import { checkedBody } from '../body/parse.ts'
import { callerBySecret } from '../caller/caller.ts'
import { ifMatchHolds } from '../delivery/conditional.ts'
import { cursorOf, positionOf } from '../files/cursor.ts'
import { methodNotAllowed } from '../problem.ts'
import { clientGone, hasBody } from '../request.ts'
import type * as wire from '../wire/aliases.ts'
import { aliasUrl } from '../wire/urls.ts'
import { aliasNameIn, aliasRollback, aliasTarget, newAliasNameIn, readAliasListQuery } from './request.ts'

interface Dependencies {
  clients: Clients
  aliases: Aliases
  listAliases: ListAliases
  /** 32 bytes, the key that seals cursors. */
  cursorKey: Buffer
  baseUrl: string
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// Enough for the longest path with each character escaped.
const BODY_MAX_BYTES = 8 * 1024

/**
 * `GET /v1/aliases`: lists a client's aliases, page by page.
 * `GET`, `PUT` and `DELETE /v1/aliases/<name>`: one alias. `POST /v1/aliases/<name>/rollback` restores an earlier version.
 */
export function aliasesRoutes({
  clients,
  aliases,
  listAliases,
  cursorKey,
  baseUrl,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const one = '/v1/aliases/*path'
  const rollback = '/v1/aliases/*path/rollback'
  const limits = { maxBytes: BODY_MAX_BYTES, minBytesPerSecond }

  function send(res: Response, client: Client, described: DescribedAlias): void {
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('ETag', etagOf(described.alias))
    res.json(aliasToWire(described, { client, baseUrl }))
  }

  routes.get('/v1/aliases', async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    const query = readAliasListQuery(req)
    const { client } = grant
    const place = { ...grant, sort: `aliases in ${query.folder}`, key: cursorKey }
    const after = query.cursor === undefined ? undefined : positionOf(query.cursor, place)
    const folder = commonFolder(query.folder, grant.folder ?? '')
    const { aliases: found, next } =
      folder === undefined
        ? { aliases: [], next: undefined }
        : await listAliases({ client, folder, after, limit: query.limit, signal: clientGone(res) })
    res.setHeader('Cache-Control', 'no-store')
    const page: wire.AliasList = {
      aliases: found.map(({ name, ...version }) => listedToWire(name, version, { client, baseUrl })),
      cursor: next === undefined ? null : cursorOf(next, place),
    }
    res.json(page)
  })
  routes.all('/v1/aliases', methodNotAllowed('GET', 'HEAD'))

  routes.post(rollback, async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const { client, folder = '' } = grant
    const name = aliasNameIn(req, grant)
    const { version } = hasBody(req) ? checkedBody(aliasRollback, await jsonBody(req, limits)) : {}
    const change = { client, name, check: matching(req), signal: clientGone(res) }
    send(res, client, await aliases.rollback({ ...change, version, folder }))
  })

  routes.get(one, async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    const { client } = grant
    send(res, client, await aliases.describe({ client, name: aliasNameIn(req, grant) }))
  })
  routes.put(one, async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const { client } = grant
    const name = newAliasNameIn(req, grant)
    const { file } = checkedBody(aliasTarget, await jsonBody(req, limits))
    const path = candidatesInFolder(parsePath(file, { param: 'file' }), grant)
    const change = { client, name, check: matching(req), signal: clientGone(res) }
    const { isNew, ...described } = await aliases.set({ ...change, path })
    if (isNew) res.status(201)
    send(res, client, described)
  })
  routes.delete(one, async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const { client } = grant
    const name = aliasNameIn(req, grant)
    await aliases.remove({ client, name, check: matching(req), signal: clientGone(res) })
    res.status(204).end()
  })
  routes.all(one, methodNotAllowed('GET', 'HEAD', 'PUT', 'DELETE'))
  return routes
}

/** The ETag of an alias and its versions. */
function etagOf({ versions }: Alias): string {
  return `"${sha256(JSON.stringify(versions)).slice(0, 32)}"`
}

/** Refuses a change of another version than the one that `If-Match` names. @throws Problem 412 */
function matching(req: Request): (present: Alias | undefined) => void {
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

function aliasToWire({ alias: { name }, versions }: DescribedAlias, place: Place): wire.Alias {
  return { ...listedToWire(name, versions[0], place), versions: versions.map(versionToWire) }
}

function listedToWire(name: string, version: DescribedVersion, { client, baseUrl }: Place): wire.ListedAlias {
  const group = parseKey(version.key)?.format.group ?? 'application'
  return { name, src: aliasUrl(name, { baseUrl, token: client.token, group }), ...versionToWire(version) }
}

function versionToWire({ version, key, setAt, isMissing }: DescribedVersion) {
  return { version, file: key, setAt: new Date(setAt).toISOString(), missing: isMissing }
}
