import { signedForAws } from './aws-signature.mts'
import { refused } from './http.mts'
import type { Purged } from './purged.mts'

/** A request that purges. */
export interface PurgeRequest {
  url: string
  method: 'POST' | 'PURGE' | 'PUT' | 'DELETE' | 'GET'
  headers: Readonly<Record<string, string>>
  body?: string
}

/** How a CDN purges. */
export interface Cdn {
  /** What one batch purges at most. */
  max: number
  /** Batches in flight. */
  atOnce: number
  /** The header of responses by which it purges, as in CDN_TAGS; undefined if it needs none. */
  tagHeader?: string
  /** @param now in milliseconds since 1970. @throws Problem when it cannot purge them */
  requests(purged: readonly Purged[], now: number): PurgeRequest[]
  /** Whether a response means that nothing had to be purged. */
  isAbsent?(status: number): boolean
}

/** The settings of a CDN. `endpoint` is the URL of its API; default: that of its documentation. */
export interface CdnSettings {
  id: string
  token: string
  endpoint?: string | undefined
}

// All files of all clients.
const ALL = '/v1/*'

const JSON_TYPE = { 'content-type': 'application/json' }

/** @see https://developers.cloudflare.com/api/resources/cache/methods/purge/ */
export function cloudflare({
  id,
  token,
  endpoint = 'https://api.cloudflare.com/client/v4',
}: CdnSettings): Cdn {
  return {
    max: 100,
    atOnce: 1,
    tagHeader: 'cache-tag',
    requests: (purged) => [
      {
        url: `${endpoint}/zones/${id}/purge_cache`,
        method: 'POST',
        headers: { ...JSON_TYPE, authorization: `Bearer ${token}` },
        body: JSON.stringify({ tags: tagsIn(purged) }),
      },
    ],
  }
}

/** @see https://www.fastly.com/documentation/reference/api/purging/ */
export function fastly({ id, token, endpoint = 'https://api.fastly.com' }: CdnSettings): Cdn {
  return {
    max: 256,
    atOnce: 1,
    tagHeader: 'surrogate-key',
    requests: (purged) => [
      {
        url: `${endpoint}/service/${id}/purge`,
        method: 'POST',
        headers: { ...JSON_TYPE, accept: 'application/json', 'fastly-key': token },
        body: JSON.stringify({ surrogate_keys: tagsIn(purged) }),
      },
    ],
  }
}

/** It purges one tag per request. @see https://docs.bunny.net/api-reference/core/pull-zone/purge-cache */
export function bunny({ id, token, endpoint = 'https://api.bunny.net' }: CdnSettings): Cdn {
  return {
    max: 1,
    atOnce: 8,
    tagHeader: 'cdn-tag',
    requests: (purged) =>
      tagsIn(purged).map((tag) => ({
        url: `${endpoint}/pullzone/${id}/purgeCache`,
        method: 'POST',
        headers: { ...JSON_TYPE, accesskey: token },
        body: JSON.stringify({ CacheTag: tag }),
      })),
  }
}

/**
 * It has no tags, and purges by path. At most 15 paths with `*` may be in progress, and a file has five.
 *
 * @param settings.token the access key ID and the secret access key, separated by a colon
 * @see https://docs.aws.amazon.com/cloudfront/latest/APIReference/API_CreateInvalidation.html
 */
export function cloudfront({
  id,
  token,
  endpoint = 'https://cloudfront.amazonaws.com',
  basePath,
}: CdnSettings & { basePath: string }): Cdn {
  const [, accessKeyId = '', secretAccessKey = ''] = /^([^:]+):(.+)$/.exec(token) ?? []
  return {
    max: 3,
    atOnce: 1,
    requests(purged, now) {
      const patterns = purged.flatMap(({ paths }) => (paths.length === 0 ? [ALL] : paths.map(patternOf)))
      const paths = [...new Set(patterns)].map((path) => `${basePath}${path}`)
      const items = paths.map((path) => `<Path>${path.replaceAll('&', '&amp;')}</Path>`).join('')
      const request = {
        url: `${endpoint}/2020-05-31/distribution/${id}/invalidation`,
        method: 'POST' as const,
        headers: { 'content-type': 'application/xml' },
        body:
          '<?xml version="1.0" encoding="UTF-8"?>' +
          '<InvalidationBatch xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/">' +
          `<Paths><Quantity>${paths.length}</Quantity><Items>${items}</Items></Paths>` +
          `<CallerReference>sluice-${now}-${Math.random().toString(36).slice(2)}</CallerReference>` +
          '</InvalidationBatch>',
      }
      const credentials = { accessKeyId, secretAccessKey, region: 'us-east-1', service: 'cloudfront' }
      return [{ ...request, headers: signedForAws(request, { ...credentials, now }) }]
    },
  }
}

/** All URLs that begin with this path. `*` must be the last character, so a folder with `*` in its name shortens it. */
function patternOf(path: string): string {
  return `${path.replace(/\*.*$/s, '')}*`
}

/** The template of requests to any other cache. */
export interface Template {
  url: string
  method: PurgeRequest['method']
  /** `Name: value`, one per line. */
  headers: string
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

/** Any other cache. `{tags}` is a list with spaces. `{tag}`, `{url}` and `{path}` mean one request for each of them. */
export function byTemplate({ url, method, headers, baseUrl }: Template): Cdn {
  const has = (word: string) => `${url}\n${headers}`.includes(`{${word}}`)
  const filled = (values: Readonly<Record<string, string>>): PurgeRequest => ({
    url: fill(url, values, ([name, value]) =>
      name === 'path' || url === '{url}' ? value : encodeURIComponent(value),
    ),
    method,
    headers: headersIn(fill(headers, values, ([, value]) => value)),
  })
  return {
    // Varnish and nginx accept 8 kB per header, and the tag of a folder has up to 95 characters.
    max: has('tags') ? 40 : 1,
    atOnce: has('tags') ? 1 : 8,
    isAbsent: (status) => status === 404 && !has('tag') && !has('tags'),
    requests(purged) {
      if (has('tags')) return [filled({ tags: tagsIn(purged).join(' ') })]
      if (has('tag')) return tagsIn(purged).map((tag) => filled({ tag }))
      if (purged.some(({ paths }) => paths.length === 0))
        throw refused('{url} and {path} purge only files. Purge this folder or client yourself, or use {tag}')
      const paths = new Set(purged.flatMap((one) => one.paths))
      return [...paths].map((path) => filled({ url: `${baseUrl}${path}`, path }))
    },
  }
}

/** An example of the URL of a template; undefined for one that has no valid URLs. */
export function exampleOf(url: string): URL | undefined {
  const example = url.replace('{path}', '/x').replaceAll(/\{(?:tags?|path)\}/g, 'x')
  const text = example.replaceAll('{url}', url === '{url}' ? 'http://x.example/x' : 'x')
  return URL.canParse(text) ? new URL(text) : undefined
}

/** Replaces `{name}` by its value. */
function fill(
  text: string,
  values: Readonly<Record<string, string>>,
  encode: (pair: [name: string, value: string]) => string,
): string {
  return Object.entries(values).reduce(
    (filled, pair) => filled.replaceAll(`{${pair[0]}}`, () => encode(pair)),
    text,
  )
}

function headersIn(lines: string): Record<string, string> {
  const pairs = lines.split('\n').filter((line) => line !== '')
  return Object.fromEntries(pairs.map((line) => line.split(/: (.*)/s).slice(0, 2)))
}

function tagsIn(purged: readonly Purged[]): string[] {
  return [...new Set(purged.map(({ tag }) => tag))]
}
