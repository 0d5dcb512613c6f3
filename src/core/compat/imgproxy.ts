import { createHmac } from 'node:crypto'
import { timingSafeEqualText } from '../bytes/timing-safe-equal.ts'
import { percentDecoded } from '../text/percent-decoded.ts'
import { routeNotFound, urlExpired } from '../url-problems.ts'
import { type CompatUrl, invalidSignature, mapOptions, noEquivalent } from './compat-url.ts'
import { IMGPROXY_OPTIONS } from './imgproxy-options.ts'

const SERVICE = 'imgproxy'

/** Their key and salt, in hexadecimal digits as they are configured there. */
export interface ImgproxyKeys {
  key: string
  salt: string
}

/**
 * Reads `/<signature>/<options>/plain/<URL>[@<extension>]` and `/<signature>/<options>/<URL in base64>[.<extension>]`.
 *
 * @param rawPath after the token, with its first slash, percent-encoded as received: signatures cover this text
 * @param keys verify signatures; without them, a signature may be any text
 * @param now in milliseconds since 1970
 * @throws Problem 400 for an option without an equivalent, 403 for an invalid signature or an expired URL, 404 for another path
 * @see https://docs.imgproxy.net/usage/processing
 * @see https://docs.imgproxy.net/usage/signing_url
 */
export function readImgproxyUrl(
  rawPath: string,
  { keys, now }: { keys?: ImgproxyKeys | undefined; now: number },
): CompatUrl {
  const [, signature = '', path = ''] = /^\/([^/]+)(\/.+)$/.exec(rawPath) ?? []
  if (path === '') throw routeNotFound()
  if (keys) verify(signature, path, keys)
  const segments = path.slice(1).split('/')
  const count = segments.findIndex((segment) => !decoded(segment).includes(':') || segment === 'plain')
  if (count === -1 || segments[count] === 'enc')
    throw count === -1 ? routeNotFound() : noEquivalent(SERVICE, 'enc')
  const { location, extension } = locationOf(segments.slice(count))
  const options = new Map(
    segments.slice(0, count).map((segment): [string, string] => {
      const [, name = '', value = ''] = /^([^:]*):(.*)$/.exec(decoded(segment)) ?? []
      return [name, value]
    }),
  )
  if (extension !== undefined) options.set('ext', extension)
  const until = expiryOf(options)
  if (until !== undefined && until <= now) throw urlExpired()
  const all = {
    table: IMGPROXY_OPTIONS,
    service: SERVICE,
    text: (name: string, value: string) => `${name}:${value}`,
  }
  const isRaw = /^(1|t|true)$/.test(options.get('raw') ?? '')
  options.delete('raw')
  const query = mapOptions(options, all)
  if (isRaw) query.clear()
  else {
    if (query.has('w') && query.has('h') && !query.has('fit')) query.set('fit', 'inside')
    turned(query, options)
    withQuality(query)
  }
  return {
    group: 'image',
    source: sourceOf(location),
    query,
    isSigned: keys !== undefined,
    ...(until === undefined ? {} : { until }),
  }
}

// What imgproxy uses when neither the URL nor its operator sets a quality.
const QUALITIES: Readonly<Record<string, string>> = { webp: '79', avif: '63' }
const OTHER_QUALITY = '80'

/** @see https://docs.imgproxy.net/configuration/options#IMGPROXY_QUALITY */
function withQuality(query: Map<string, string>): void {
  const format = query.get('f') ?? ''
  const isOpen = query.size > 0 && !query.has('q') && !query.has('preset') && format !== 'auto'
  if (isOpen) query.set('q', QUALITIES[format] ?? OTHER_QUALITY)
}

/**
 * imgproxy rotates before it resizes, so the sides are those of the rotated image. Here they are those before the rotation.
 *
 * @throws Problem 400 for what depends on the sides in another way: gravity, padding, a crop
 */
function turned(query: Map<string, string>, options: ReadonlyMap<string, string>): void {
  const angle = Number(query.get('rotate') ?? 0) % 360
  const [w, h] = [query.get('w'), query.get('h')]
  if (angle === 0 || (w === undefined && h === undefined)) return
  const gravity = ['func', 'fx', 'fy'].some((name) => query.has(name) && query.get(name) !== 'center')
  if (gravity || ['pad', 'crop'].some((name) => query.has(name)))
    throw noEquivalent(SERVICE, `rot:${options.get('rot') ?? options.get('rotate')}`)
  if (angle % 180 === 0) return
  for (const [name, side] of [
    ['w', h],
    ['h', w],
  ] as const)
    if (side === undefined) query.delete(name)
    else query.set(name, side)
}

/** The location of the source, and the requested extension. */
function locationOf(segments: readonly string[]): { location: string; extension?: string } {
  if (segments[0] === 'plain') {
    const [, location = '', extension] = /^(.*?)(?:@([^@]*))?$/.exec(segments.slice(1).join('/')) ?? []
    return { location: decoded(location), ...(extension ? { extension } : {}) }
  }
  const [text = '', extension] = segments.join('').split('.')
  if (!/^[\w-]+=*$/.test(text)) throw routeNotFound()
  return { location: Buffer.from(text, 'base64url').toString(), ...(extension ? { extension } : {}) }
}

/** A file of ours for `local:///<path>`, `s3://<bucket>/<path>` and a path; else the URL of another server. */
function sourceOf(location: string): CompatUrl['source'] {
  const [, scheme, rest = ''] = /^([a-z]+[\da-z]*):\/\/(.*)$/i.exec(location) ?? []
  if (scheme === undefined) return { names: [{ name: location.replace(/^\/+/, '') }] }
  if (/^https?$/i.test(scheme)) return { url: location }
  if (scheme === 'local') return { names: [{ name: rest.replace(/^\/+/, '') }] }
  if (['s3', 'gs', 'abs', 'swift'].includes(scheme))
    return { names: [{ name: rest.replace(/^[^/]*\/+/, '') }] }
  throw noEquivalent(SERVICE, `${scheme}://`)
}

function decoded(text: string): string {
  const found = percentDecoded(text)
  if (found === undefined) throw routeNotFound()
  return found
}

/** In milliseconds since 1970. */
function expiryOf(options: ReadonlyMap<string, string>): number | undefined {
  const seconds = options.get('expires') ?? options.get('exp')
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

function verify(signature: string, path: string, { key, salt }: ImgproxyKeys): void {
  const expected = createHmac('sha256', Buffer.from(key, 'hex')).update(Buffer.from(salt, 'hex')).update(path)
  if (!timingSafeEqualText(signature, expected.digest('base64url'))) throw invalidSignature()
}
