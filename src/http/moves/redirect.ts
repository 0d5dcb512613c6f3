import type { Request, RequestHandler, Response } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey, encodedPath, type ObjectKey } from '../../core/files/object-key.ts'
import { parsePath, readCandidates } from '../../core/files/request-path.ts'
import { isMediaGroup } from '../../core/media/formats.ts'
import { parseTarget } from '../../core/net/query.ts'
import { isIgnoredParam } from '../../core/plugin-api/query-names.ts'
import { Problem } from '../../core/problem.ts'
import { SIGNING_WORDS } from '../../core/signing/signed-url.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Redirects } from '../../service/moves/redirects.ts'
import type { Caching } from '../caching/caching.ts'
import { setLifetime } from '../caching/set-lifetime.ts'
import { callerByToken } from '../caller/caller.ts'
import { isFileWithin } from '../caller/signed-cookie.ts'
import { checkSigned, isSigned, signedLike } from '../caller/signed-url.ts'

/** Wraps the handler of a delivery route: it may respond with a redirect in place of 404 `file_not_found`. */
export type OrRedirect = (handler: (req: Request, res: Response) => Promise<void>) => RequestHandler

// A redirect cannot be taken back from a browser's cache: the file may be deleted or moved again.
const MAX_AGE_SECONDS = 3600
// The part of a delivery URL before the path of the file. The type may be percent-encoded.
const ROUTE = /^\/v1\/(?:bucket|[^/]+\/(?:upload|info))\/[^/]+\//

interface Moved {
  client: Client
  /** The key of the original now. */
  key: ObjectKey
  path: string
  until: number
}

/**
 * Redirects the URLs of moved files, 308: with the parameters of the request, and signed again if the request was signed. The file
 * is looked for first, so files that exist cost nothing. Without a signature, a file that was moved into a private folder is
 * refused (403), since its new path is private too.
 */
export function createOrRedirect({
  clients,
  redirects,
  caching,
  baseUrl,
}: {
  clients: Clients
  redirects: Redirects
  caching: Caching
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}): OrRedirect {
  /** The path of the file now, percent-encoded, and the end of the redirect. */
  async function movedPath(req: Request): Promise<Moved | undefined> {
    const { client, path } = callerByToken(req, clients, isFileWithin)
    const group = String(req.params.group)
    for (const { variant, ...name } of candidatesOf(path, group)) {
      const found = await redirects.follow(client, name.key)
      if (!found) continue
      const { key, folder, sourceName } = found.name
      checkSigned(req, { client, clients, path: key })
      const isShort = variant === undefined && path !== name.key
      const short = folder === '' ? sourceName : `${folder}/${sourceName}`
      const full = variant === undefined ? key : derivativeKey(key, variant)
      return { client, key, path: encodedPath(isShort ? short : full), until: found.until }
    }
    return undefined
  }

  function movedUrl(req: Request, path: string): string {
    const { client } = callerByToken(req, clients, isFileWithin)
    const target = parseTarget(req.originalUrl)
    const [route] = ROUTE.exec(target.path) ?? []
    // Directly after the host, the first folder of the path could continue the name of the host.
    if (route === undefined) throw new Error('a delivery URL does not begin like one')
    const isCovered = (name: string) => !SIGNING_WORDS.includes(name) && !isIgnoredParam(name, [])
    const pairs = isSigned(req)
      ? target.pairs.filter(({ named: [name] = [''] }) => isCovered(name))
      : target.pairs
    const query = pairs.map(({ raw }) => raw).join('&')
    const url = `${baseUrl}${route}${path}${query === '' ? '' : `?${query}`}`
    return signedLike(req, url, client, clients)
  }

  return (handler) => async (req, res) => {
    try {
      await handler(req, res)
    } catch (error) {
      const isMissing = error instanceof Problem && error.code === 'file_not_found' && !res.headersSent
      const moved = isMissing ? await movedPath(req) : undefined
      if (!moved) throw error
      const leftSeconds = Math.max(0, Math.floor((moved.until - Date.now()) / 1000))
      setLifetime(req, res, { maxAgeSeconds: Math.min(MAX_AGE_SECONDS, leftSeconds) })
      caching.setTags(res, moved.client, moved.key)
      // Not by `res.redirect`: it would encode characters that the signature covers.
      res.setHeader('Location', movedUrl(req, moved.path))
      res.status(308).end()
    }
  }
}

/** The files that a path may name in a delivery URL of this group, or in the URL of an object, which has no group. */
function candidatesOf(path: string, group: string) {
  if (!isMediaGroup(group)) return readCandidates(parsePath(path)).slice(0, 1)
  return readCandidates(parsePath(path, { group })).filter(({ format }) => format.group === group)
}
