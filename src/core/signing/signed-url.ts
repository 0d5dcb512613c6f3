import { createHmac } from 'node:crypto'
import { timingSafeEqualText } from '../bytes/timing-safe-equal.ts'
import type { ParsedTarget, QueryPair } from '../net/query.ts'
import { isIgnoredParam } from '../plugin-api/query-names.ts'

/** One of a client's keys for signed delivery URLs. */
export interface UrlKey {
  version: number
  /** The text of the key as the client received it. Its characters are the key. */
  key: string
}

/** Finds a client's valid key by its version; undefined for a key that is revoked or never existed. */
export type FindUrlKey = (version: number) => string | undefined

/**
 * The result of a check: signed, with the key's version and the expiry, if any (milliseconds since 1970, exclusive);
 * or the reason why it is not.
 */
export type SignedUrl =
  | { state: 'signed'; version: number; until?: number }
  | { state: 'unsigned' | 'invalid' | 'expired' }

/** The parameter of a signature. */
export const SIGNATURE_WORD = 's'
/** The parameter of an expiry, in seconds since 1970. */
export const EXPIRY_WORD = 'exp'
/** The parameters of a signed URL that are not of its delivery. */
export const SIGNING_WORDS: readonly string[] = [SIGNATURE_WORD, EXPIRY_WORD]
const SIGNATURE = /^(?<version>\d{1,9})\.(?<mac>[\w-]{43})$/
const SEGMENT = /^s--(?<version>\d{1,9})\.(?<until>\d{0,10})\.(?<mac>[\w-]{43})--$/

/**
 * Signs the path and query of a delivery URL exactly as it will be sent: HMAC-SHA256 over this text, in base64url
 * after the key's version. `exp=<seconds since 1970>` in the query sets its expiry.
 */
export function signUrl(target: string, { version, key }: UrlKey): string {
  return `${target}${target.includes('?') ? '&' : '?'}${SIGNATURE_WORD}=${version}.${mac(target, key)}`
}

// The signature that {@link signUrl} appends, after its expiry if it has one. A caller may have appended `?w=300` to it.
const APPENDED = /([?&])(?:exp=\d{1,10}&)?s=\d{1,9}\.[\w-]{43}(?:[?&](.*))?$/s

/** The path and query, or the whole URL, without the appended signature and expiry, and with the parameters after them. */
export function withoutSignature(url: string): string {
  return url.replace(APPENDED, (_, sign: string, rest?: string) => (rest ? `${sign}${rest}` : ''))
}

/**
 * Checks the path and query of a request as received. Parameters that links collect on their way (`utm_source`) are
 * ignored.
 *
 * @returns also the query without signature and expiry
 */
export function readSignedUrl(
  { path, pairs }: ParsedTarget,
  { findKey, now }: { findKey: FindUrlKey; now: number },
): { url: SignedUrl; pairs: QueryPair[] } {
  const named = (word: string) => pairs.filter((pair) => nameOf(pair) === word)
  const rest = pairs.filter((pair) => !SIGNING_WORDS.includes(nameOf(pair)))
  const [signature, ...others] = named(SIGNATURE_WORD)
  const [expiry, ...ends] = named(EXPIRY_WORD)
  if (!signature) return { url: { state: expiry ? 'invalid' : 'unsigned' }, pairs: rest }
  const found = SIGNATURE.exec(signature.raw.slice(SIGNATURE_WORD.length + 1))?.groups
  const until = expiry?.raw.slice(EXPIRY_WORD.length + 1)
  if (!found || others.length > 0 || ends.length > 0 || (until !== undefined && !/^\d{1,10}$/.test(until)))
    return { url: { state: 'invalid' }, pairs: rest }
  const covered = pairs.filter((pair) => pair !== signature && !isIgnoredParam(nameOf(pair), []))
  const text = covered.length > 0 ? `${path}?${covered.map(({ raw }) => raw).join('&')}` : path
  const version = Number(found.version)
  return { url: verdict({ text, version, given: found.mac, until }, { findKey, now }), pairs: rest }
}

/**
 * Creates a path segment that signs all files of one folder, for files that link to others by relative URLs.
 *
 * @param folder with a slash at its end
 * @param until expiry in seconds since 1970
 */
export function folderSegment(folder: string, { version, key }: UrlKey, until: number | undefined): string {
  const end = until ?? ''
  return `s--${version}.${end}.${mac(folderText(folder, end), key)}--`
}

/** Whether a path segment has the form of {@link folderSegment}. */
export function isFolderSegment(segment: string): boolean {
  return SEGMENT.test(segment)
}

/** Checks the segment for the folder in which the file's path was found. */
export function readFolderSegment(
  segment: string,
  { folder, findKey, now }: { folder: string; findKey: FindUrlKey; now: number },
): SignedUrl {
  const { version, until = '', mac: given } = SEGMENT.exec(segment)?.groups ?? {}
  const signed = {
    text: folderText(folder, until),
    version: Number(version),
    given,
    until: until || undefined,
  }
  return verdict(signed, { findKey, now })
}

function verdict(
  {
    text,
    version,
    given,
    until,
  }: { text: string; version: number; given: string | undefined; until: string | undefined },
  { findKey, now }: { findKey: FindUrlKey; now: number },
): SignedUrl {
  const key = findKey(version)
  if (key === undefined || given === undefined || !timingSafeEqualText(mac(text, key), given))
    return { state: 'invalid' }
  if (until === undefined) return { state: 'signed', version }
  const end = 1000 * Number(until)
  return now < end ? { state: 'signed', version, until: end } : { state: 'expired' }
}

// No path begins with this text: a signature of a folder is not valid for anything else.
function folderText(folder: string, until: string | number): string {
  return `folder ${until} ${folder}`
}

function mac(text: string, key: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}

function nameOf({ named: [name] = ['', ''] }: QueryPair): string {
  return name
}
