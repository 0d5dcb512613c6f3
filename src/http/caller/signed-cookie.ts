import type { IncomingMessage } from 'node:http'
import type { Request } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { isWithin } from '../../core/clients/secret-scope.ts'
import { showsPrivateFile } from '../../core/clients/signed-delivery.ts'
import { parentFolder } from '../../core/files/folder.ts'
import { parseKey, pathDefect } from '../../core/files/object-key.ts'
import { COOKIE_PREFIX, readSignedFolder } from '../../core/signing/signed-folder.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { stateOf } from '../request-state.ts'

// Each costs a signature of some microseconds, if its folder is the requested one.
const COOKIES_MAX = 20

/** Whether a path of a route names only what is in a folder. */
export type IsPathWithin = (path: string, folder: string) => boolean

/**
 * Whether a path names a file in this folder or its subfolders, with all its meanings: in `image/png/a.png`, `image` may be a folder
 * or the beginning of a key in the top folder. A derivative that shows a private file of any folder is in none.
 *
 * @param path decoded once
 */
export const isFileWithin: IsPathWithin = (path, folder) => {
  if (pathDefect(path) !== undefined || showsPrivateFile(path)) return false
  return isWithin(parseKey(path)?.folder ?? parentFolder(path), folder)
}

/** Whether the name of an alias is in this folder or its subfolders. */
export const isAliasWithin: IsPathWithin = (name, folder) => isWithin(parentFolder(name), folder)

/** Whether the header `Cookie` may contain a signed cookie. */
export function hasSignedCookie({ headers: { cookie } }: Pick<IncomingMessage, 'headers'>): boolean {
  return cookie?.includes(COOKIE_PREFIX) ?? false
}

/**
 * Whether a signed cookie of the request opens this path. Then the response is only for this caller, until the cookie expires.
 *
 * @param path of a file that needs a signed URL, decoded once
 */
export function isOpenedByCookie(
  req: Request,
  { client, clients, path, isPathWithin }: OpenedPath & { isPathWithin: IsPathWithin },
): boolean {
  if (!hasSignedCookie(req)) return false
  const findKey = (version: number) => clients.urlKeys.find(client, version)
  let verified = 0
  const isNeeded = (folder: string) => {
    if (!isPathWithin(path, folder)) return false
    verified += 1
    return verified <= COOKIES_MAX
  }
  for (const value of cookieValues(req)) {
    const found = readSignedFolder(value, { token: client.token, findKey, now: Date.now(), isNeeded })
    if (found === undefined || found === 'expired') continue
    // A browser that has the response to an <img> in its cache must request it again for a script: see `permitCredentials`.
    req.res?.vary('Origin')
    // One cookie may have opened the name of an alias, and this one opens its file.
    const { until = Number.POSITIVE_INFINITY } = stateOf(req).signedCookie ?? {}
    stateOf(req).signedCookie = { until: Math.min(until, 1000 * found.until) }
    return true
  }
  return false
}

/** A path of a client's files. */
export interface OpenedPath {
  client: Client
  clients: Pick<Clients, 'urlKeys'>
  path: string
}

/** The values of all signed cookies, also of several with the same name: others may set a second one, and each value has a signature. */
function cookieValues({ headers: { cookie = '' } }: Request): string[] {
  return cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(COOKIE_PREFIX))
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
}
