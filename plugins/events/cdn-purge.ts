import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { EventName, Events } from '../../src/core/events.ts'
import { TEST_EVENT } from '../../src/core/events.ts'
import { defineEventPlugin, type EventContext } from '../../src/core/plugin-api/event-plugin.ts'
import { NotYet } from '../../src/core/ports/jobs.ts'
import { Problem } from '../../src/core/problem.ts'
import { type Batches, createBatches } from './batches.mts'
import {
  bunny,
  byTemplate,
  type Cdn,
  cloudflare,
  cloudfront,
  exampleOf,
  fastly,
  type PurgeRequest,
} from './cdns.mts'
import { type Purged, purgedBy } from './purged.mts'

const TIMEOUT_MS = 10_000
// The responses of APIs are shorter.
const BODY_MAX_BYTES = 16 * 1024
const RETRY_MAX_MS = 10 * 60_000
const METHODS = ['PURGE', 'POST', 'PUT', 'DELETE', 'GET'] as const
const EVENTS = ['original.deleted', 'original.trashed', 'client.changed'] as const

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

type Settings = z.infer<typeof settings>

/** Purges a CDN of files that are no longer delivered. */
export default defineEventPlugin({
  name: 'cdn-purge',
  durable: true,
  // Events that wait while a request is in flight are in the next one.
  atOnce: 100,
  options: {
    cdn: 'off',
    id: '',
    token: '',
    url: '',
    method: 'PURGE',
    headers: '',
    /** Address ranges that are not public but may be requested. */
    allowAddresses: [],
    /** The headers with tags of this installation. */
    tags: [],
    /** The public URL of the service, without a trailing slash. */
    baseUrl: 'http://localhost',
    /**
     * A second purge follows this time after the event. Other processes, and responses in flight, may have delivered the file to the
     * CDN in the meantime.
     */
    repeatMs: 10_000,
  },
  targets: (_, options) => (cdnOf(read(options)) ? [read(options).cdn] : []),
  async check(options, { mayFetch }) {
    const { cdn, url, endpoint, allowAddresses } = read(options)
    const reached = cdn === 'url' && url !== '{url}' ? exampleOf(url)?.origin : endpoint
    if (reached === undefined) return
    await mayFetch(reached, accessTo(reached, allowAddresses)).catch((error) => {
      throw withRemedy(error, new URL(reached).host)
    })
  },
  on: {
    ...Object.fromEntries(
      EVENTS.map((name) => [
        name,
        (event: Events[EventName], context: EventContext) => purge(name, event, context),
      ]),
    ),
    // A tag that no file has.
    [TEST_EVENT]: (_: unknown, context: EventContext) =>
      batchesOf(context).add({ purged: { tag: 'sluice-test', paths: ['/sluice-test'] }, context }),
  },
})

async function purge(name: EventName, event: Events[EventName], context: EventContext): Promise<void> {
  const purged = purgedBy(name as 'original.deleted', event as Events['original.deleted'])
  if (purged.length === 0) return
  const batches = batchesOf(context)
  await Promise.all(purged.map((one) => batches.add({ purged: one, context })))
  const againInMs = context.occurredAt.getTime() + read(context.options).repeatMs - Date.now()
  if (againInMs > 0) throw new NotYet(againInMs)
}

interface Item {
  purged: Purged
  context: EventContext
}

const batchesByOptions = new WeakMap<object, Batches<Item>>()

/** The batches of one configuration: those of all events in this process. */
function batchesOf({ options }: EventContext): Batches<Item> {
  const known = batchesByOptions.get(options)
  if (known) return known
  const given = read(options)
  const cdn = cdnOf(given)
  if (!cdn) throw new Error('no CDN is configured')
  const batches = createBatches<Item>({
    max: cdn.max,
    atOnce: cdn.atOnce,
    async send(items) {
      const [first] = items
      if (!first) return
      const requests = cdn.requests(
        items.map(({ purged }) => purged),
        Date.now(),
      )
      for (const request of requests) await send(request, first.context, { cdn, given, items })
    },
  })
  batchesByOptions.set(options, batches)
  return batches
}

async function send(
  { url, ...request }: PurgeRequest,
  { fetch }: EventContext,
  { cdn, given, items }: { cdn: Cdn; given: Settings; items: readonly Item[] },
): Promise<void> {
  const { host } = new URL(url)
  const { status, headers, body } = await fetch({
    ...request,
    url,
    maxRedirects: 0,
    timeoutMs: TIMEOUT_MS,
    maxBytes: Number.MAX_SAFE_INTEGER,
    access: accessTo(url, given.allowAddresses),
  }).catch((error) => {
    throw withRemedy(error, host)
  })
  try {
    for (const { context } of items) await context.report({ status, body })
    if (status === 429 && /^\d{1,6}$/.test(headers['retry-after'] ?? ''))
      throw new NotYet(Math.min(RETRY_MAX_MS, 1000 * Math.max(1, Number(headers['retry-after']))))
    const isDone = (status >= 200 && status <= 299) || cdn.isAbsent?.(status) === true
    if (!isDone) throw refused(`${host} responded with ${status}`)
    if (given.cdn === 'cloudflare' && (await textOf(body)).includes('"success":false'))
      throw refused(`${host} refused the purge`)
  } finally {
    body.destroy()
  }
}

/** Because of the status 502, the purge is sent again. */
function refused(detail: string): Problem {
  return new Problem({ status: 502, code: 'remote_status', detail })
}

/** The beginning of a body, without spaces. */
async function textOf(body: Readable): Promise<string> {
  let text = ''
  for await (const chunk of body) {
    text += chunk
    if (text.length > BODY_MAX_BYTES) break
  }
  return text.replaceAll(/\s/g, '')
}

function accessTo(url: string, addresses: readonly string[]) {
  const { port } = new URL(url)
  return { ports: port === '' ? [] : [Number(port)], addresses }
}

/** For a refused address, returns an error with the necessary setting. Returns any other error unchanged. */
function withRemedy(error: unknown, host: string): unknown {
  if (!(error instanceof Problem) || error.code !== 'url_not_allowed') return error
  const detail = `${host} is not a public address. Add its range to CDN_PURGE_ALLOW_ADDRESSES`
  return new Problem({ status: 400, code: error.code, detail })
}

/** Undefined when purging is off. @throws Error for settings that cannot work, with the variables to set */
function cdnOf(given: Settings): Cdn | undefined {
  const { cdn: name, id, token, url, method, headers, endpoint, baseUrl } = given
  if (name === 'off') return undefined
  if (name === 'url') {
    if (!/\{(tags?|url|path)\}/.test(`${url}\n${headers}`) || !exampleOf(url))
      throw new Error('expected CDN_PURGE_URL or CDN_PURGE_HEADERS with {tag}, {tags}, {url} or {path}')
    if (/\{tags?\}/.test(`${url}\n${headers}`) && given.tags.length === 0)
      throw new Error('expected CDN_TAGS, since {tag} purges by tags')
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

function read(options: unknown): Settings {
  const { data, error } = settings.safeParse(options)
  if (error)
    throw new Error(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  return data
}
