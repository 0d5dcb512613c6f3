import type { Request } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { needsSignedUrl } from '../../core/clients/signed-delivery.ts'
import type { CompatUrl } from '../../core/compat/compat-url.ts'
import { parseTarget } from '../../core/net/query.ts'
import type { Problem } from '../../core/problem.ts'
import { bundleFolder, signedAddress } from '../../core/signing/signed-address.ts'
import {
  type FindUrlKey,
  isFolderSegment,
  readFolderSegment,
  readSignedUrl,
  type SignedUrl,
} from '../../core/signing/signed-url.ts'
import { needsSignature, urlExpired, urlInvalid } from '../../core/url-problems.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { namedPairs, type QueryPairs, wildcardSegments } from '../request.ts'
import { stateOf } from '../request-state.ts'
import { permitCredentials } from './page-origin.ts'
import { type IsPathWithin, isFileWithin, isOpenedByCookie, type OpenedPath } from './signed-cookie.ts'

/** What a delivery URL requests, without its signature. */
export interface AdmittedUrl {
  /** The path that the wildcard of the route has matched, decoded once; empty for a route without one. */
  path: string
  /** The query parameters, without a limit of their number: see `limitedPairs`. */
  query: QueryPairs
}

/**
 * Verifies the signature of a delivery URL. The client's rules require it for all files or for some folders. Where it is
 * optional, a signature that is present has to be valid. Without a signature, a signed cookie may open the file.
 *
 * @param caller.isPathWithin absent: no cookie opens what this route delivers
 * @throws Problem 403
 */
export function admitUrl(
  req: Request,
  {
    client,
    clients,
    isPathWithin,
  }: { client: Client; clients: Clients; isPathWithin?: IsPathWithin | undefined },
): AdmittedUrl {
  const target = parseTarget(req.originalUrl)
  const segments = wildcardSegments(req)
  const unsigned = { path: segments.join('/'), query: namedPairs(target.pairs) }
  const [first = '', ...rest] = segments
  const path = isFolderSegment(first) ? rest.join('/') : unsigned.path
  const isRequired = needsSignedUrl(client, path)
  if (!isRequired && !client.urlKeys?.active.length) return unsigned
  const keys = { findKey: (version: number) => clients.urlKeys.find(client, version), now: Date.now() }
  const { url, pairs } = isFolderSegment(first)
    ? { url: readFolder(first, path, keys), pairs: target.pairs }
    : readSignedUrl(target, keys)
  if (url.state === 'unsigned') {
    if (!isRequired) return unsigned
    if (isPathWithin && isOpenedByCookie(req, { client, clients, path, isPathWithin })) return unsigned
    throw refuseUnsigned(req, { mayHaveCookie: isPathWithin !== undefined })
  }
  if (url.state !== 'signed') throw REFUSALS[url.state]()
  const { version, until } = url
  stateOf(req).signature = until === undefined ? { version } : { version, until }
  return { path, query: namedPairs(pairs) }
}

/**
 * Checks that the URL is signed, or that a signed cookie opens the file, if the file needs it. For a file that another path than that
 * of the URL names, such as the file of an alias.
 *
 * @param file.path the key of the file, or its path
 * @throws Problem 403
 */
export function checkSigned(req: Request, file: OpenedPath): void {
  if (isSigned(req) || !needsSignedUrl(file.client, file.path)) return
  if (!isOpenedByCookie(req, { ...file, isPathWithin: isFileWithin }))
    throw refuseUnsigned(req, { mayHaveCookie: true })
}

/** The problem of a file that is not opened. A page that sends cookies may read it. */
function refuseUnsigned(req: Request, options: { mayHaveCookie: boolean }): Problem {
  if (req.res) permitCredentials(req, req.res)
  return needsSignature(options)
}

/**
 * Admits a URL in the format of another service, whose signature was verified by the rules of that service. URLs in its response
 * are signed with the newest key of the client.
 *
 * @param names of the file in the URL: paths or aliases
 * @throws Problem 403 for an unsigned URL, if the client requires signatures
 */
export function admitCompatUrl(
  req: Request,
  {
    client,
    clients,
    names,
    isSigned,
    until,
  }: { client: Client; clients: Clients; names: readonly string[] } & Pick<CompatUrl, 'isSigned' | 'until'>,
): void {
  if (!isSigned) {
    if (['', ...names].some((name) => needsSignedUrl(client, name))) throw needsSignature()
    return
  }
  const version = clients.urlKeys.newest(client)?.version
  if (version === undefined) return
  stateOf(req).signature = until === undefined ? { version } : { version, until }
}

/** Verifies the signature of a bundle's folder, for a file in it. */
function readFolder(segment: string, path: string, keys: { findKey: FindUrlKey; now: number }): SignedUrl {
  const folder = bundleFolder(path)
  return folder === undefined ? { state: 'invalid' } : readFolderSegment(segment, { folder, ...keys })
}

/** Whether the request has a signed URL, after {@link admitUrl} has verified it. */
export function isSigned(req: Request): boolean {
  return stateOf(req).signature !== undefined
}

/**
 * A URL of a client's files for the caller of this request: signed if the request's URL was, with the same key and expiry.
 *
 * @param url of a file, of the entry of a bundle, or of a job; its path percent-encoded, its query without a signature
 */
export function signedLike(req: Request, url: string, client: Client, clients: Clients): string {
  const { signature } = stateOf(req)
  if (!signature) return url
  const { version } = signature
  const key = { version, key: clients.urlKeys.find(client, version) ?? '' }
  const until = signature.until === undefined ? undefined : Math.floor(signature.until / 1000)
  return signedAddress(url, { key, until })
}

const REFUSALS = {
  invalid: () => urlInvalid('its key was revoked'),
  expired: urlExpired,
}
