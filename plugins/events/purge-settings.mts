import { z } from 'zod'
import { bunny, byTemplate, type Cdn, cloudflare, cloudfront, exampleOf, fastly } from './cdns.mts'

const METHODS = ['PURGE', 'POST', 'PUT', 'DELETE', 'GET'] as const
// Headers that the service sets itself. Another host could name a server that was not checked.
const NOT_SENT = /^(?:host|cookie|connection|transfer-encoding|content-length)(?=:)/im

const settings = z.looseObject({
  cdn: z.enum(['off', 'cloudflare', 'fastly', 'cloudfront', 'bunny', 'url']),
  id: z.string(),
  token: z.string(),
  url: z.string(),
  method: z.enum(METHODS),
  headers: z.string(),
  allowAddresses: z.array(z.string()),
  tags: z.array(z.string()),
  baseUrl: z.string(),
  repeatMs: z.int().min(0),
  endpoint: z.url().optional(),
})

export type Settings = z.infer<typeof settings>

/** Undefined when purging is off. @throws Error for settings that cannot work, with the variables to set */
export function cdnOf(given: Settings): Cdn | undefined {
  const { cdn: name, id, token, url, method, headers, endpoint, baseUrl } = given
  if (name === 'off') return undefined
  if (name === 'url') {
    if (!/\{(tags?|url|path)\}/.test(`${url}\n${headers}`) || !exampleOf(url))
      throw new Error('expected CDN_PURGE_URL or CDN_PURGE_HEADERS with {tag}, {tags}, {url} or {path}')
    const byTag = /\{tags?\}/.test(`${url}\n${headers}`)
    if (byTag && /\{(url|path)\}/.test(`${url}\n${headers}`))
      throw new Error('expected either tags or {url} and {path} in CDN_PURGE_URL and CDN_PURGE_HEADERS')
    if (exampleOf(url)?.username || exampleOf(url)?.password)
      throw new Error('expected no user name in CDN_PURGE_URL. Set Authorization in CDN_PURGE_HEADERS')
    const unsent = NOT_SENT.exec(headers)
    if (unsent) throw new Error(`expected no header ${unsent[0]} in CDN_PURGE_HEADERS: it is not sent`)
    if (byTag && given.tags.length === 0) throw new Error('expected CDN_TAGS, since {tag} purges by tags')
    return byTemplate({ url, method, headers, baseUrl })
  }
  if (id === '' || token === '') throw new Error(`expected CDN_PURGE_ID and CDN_PURGE_TOKEN for ${name}`)
  const chosen = { cloudflare, fastly, bunny, cloudfront }[name]
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '')
  const cdn = chosen({ id, token, endpoint, basePath })
  if (name === 'cloudfront' && !/^[^:]+:./.test(token))
    throw new Error('expected CDN_PURGE_TOKEN as <access key ID>:<secret access key> for cloudfront')
  if (cdn.tagHeader !== undefined && !given.tags.includes(cdn.tagHeader))
    throw new Error(`expected CDN_TAGS=${cdn.tagHeader} for ${name}, which purges by tags`)
  return cdn
}

/** @throws Error for invalid settings, with their names */
export function read(options: unknown): Settings {
  const { data, error } = settings.safeParse(options)
  if (error)
    throw new Error(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  return data
}
