import type { Request } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { classifyKey, partsPrefix, storedKey } from '../../core/files/object-key.ts'
import { Problem } from '../../core/problem.ts'
import {
  folderSegment,
  isFolderSegment,
  readFolderSegment,
  readSignedUrl,
  type SignedUrl,
  signUrl,
} from '../../core/signing/signed-url.ts'
import type { Clients } from '../../service/clients/clients.ts'

/** How a request by a signed URL has come, for what is answered to it. */
interface Admission {
  /** Of the key that it was signed with: no other signs for it, so that it ends with this one. */
  version: number
  /** Milliseconds since 1970; absent: for good. */
  until?: number
}

const admissions = new WeakMap<Request, Admission>()

/**
 * Lets a request for a client's files pass: where these are delivered by signed URLs only, and wherever a URL is signed, it has
 * to be right. From then on there is no signature in the request's query and parameters.
 *
 * @throws Problem 403
 */
export function admitUrl(req: Request, client: Client, clients: Clients): void {
  const isRequired = client.rules?.signedUrls === true
  if (!isRequired && !client.urlKeys?.active.length) return
  const findKey = (version: number) => clients.urlKeys.find(client, version)
  const segment = takeSegment(req)
  const { url, query } = segment === undefined ? readUrl(req) : readSegment(req, segment)
  if (url.state === 'unsigned' && !isRequired) return
  if (url.state !== 'signed') throw REFUSALS[url.state]()
  const { version, until } = url
  admissions.set(req, { version, ...(until === undefined ? {} : { until }) })
  const at = req.url.indexOf('?')
  req.url = `${at === -1 ? req.url : req.url.slice(0, at)}${query}`

  function readUrl({ originalUrl }: Request) {
    return readSignedUrl(originalUrl, { findKey, now: Date.now() })
  }

  function readSegment({ url }: Request, taken: string): { url: SignedUrl; query: string } {
    const at = url.indexOf('?')
    const query = at === -1 ? '' : url.slice(at)
    const folder = bundleOf(req)
    if (folder === undefined) return { url: { state: 'invalid' }, query }
    return { url: readFolderSegment(taken, { folder, findKey, now: Date.now() }), query }
  }
}

/** Whether the request came by a signed URL. Once {@link admitUrl} has let it pass. */
export function isSigned(req: Request): boolean {
  return admissions.has(req)
}

/** `Cache-Control` of what may be kept for so long: by all, or by the caller alone until the end of its URL. */
export function cacheControl(req: Request, maxAgeSeconds: number): string {
  const admission = admissions.get(req)
  if (!admission) return `public, max-age=${maxAgeSeconds}`
  const { until = Number.POSITIVE_INFINITY } = admission
  const left = Math.max(0, Math.floor((until - Date.now()) / 1000))
  return `private, max-age=${Math.min(maxAgeSeconds, left)}`
}

/**
 * An address of a client's files as whoever has made this request may use it: signed where theirs was, for as long.
 *
 * @param url of a file, of the entry of a bundle, or of a job; without a query, its path percent-encoded
 */
export function signedLike(req: Request, url: string, client: Client, clients: Clients): string {
  const admission = admissions.get(req)
  if (!admission) return url
  const { version } = admission
  const key = { version, key: clients.urlKeys.find(client, version) ?? '' }
  const until = admission.until === undefined ? undefined : Math.floor(admission.until / 1000)
  const { origin, pathname } = new URL(url)
  const [, base = '', path = ''] = DELIVERY.exec(pathname) ?? []
  const folder = folderOf(decodeURIComponent(path))
  if (folder !== undefined) return `${origin}${base}${folderSegment(folder, key, until)}/${path}`
  // What a proxy puts in front of our paths is not there when the request arrives.
  const at = pathname.indexOf('/v1/')
  const target = `${pathname.slice(at)}${until === undefined ? '' : `?exp=${until}`}`
  return `${origin}${pathname.slice(0, at)}${signUrl(target, key)}`
}

const DELIVERY = /^(.*?\/v1\/\w+\/upload\/[^/]+\/)(.+)$/

/** The folder of a bundle that a file is in; undefined for one that is in none. */
function folderOf(path: string): string | undefined {
  try {
    const meaning = classifyKey(storedKey(path))
    if (meaning?.kind === 'derivative') return partsPrefix(storedKey(path))
    return meaning?.kind === 'part' ? partsPrefix(meaning.derivative) : undefined
  } catch {
    return undefined
  }
}

function bundleOf(req: Request): string | undefined {
  const { path } = req.params as { path?: string[] }
  return Array.isArray(path) ? folderOf(path.join('/')) : undefined
}

/** Takes the segment that signs a folder out of the path that a wildcard has matched. */
function takeSegment(req: Request): string | undefined {
  const { path } = req.params as { path?: string[] }
  return Array.isArray(path) && isFolderSegment(path[0] ?? '') ? path.shift() : undefined
}

const REFUSALS = {
  unsigned: () => refusal('url_unsigned', 'The files of this client need a signed URL.'),
  invalid: () => refusal('url_invalid', 'Invalid signature: the URL was changed, or its key was revoked.'),
  expired: () => refusal('url_expired', 'This signed URL has expired. Request a new one.'),
}

function refusal(code: string, detail: string): Problem {
  return new Problem({ status: 403, code, detail })
}
