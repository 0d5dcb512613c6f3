import { Readable } from 'node:stream'
import type { EventName, Events } from '../../src/core/events.ts'
import { TEST_EVENT } from '../../src/core/events.ts'
import type { Log } from '../../src/core/log.ts'
import { defineEventPlugin, type EventContext } from '../../src/core/plugin-api/event-plugin.ts'
import { NotYet } from '../../src/core/ports/jobs.ts'
import { Problem } from '../../src/core/problem.ts'
import { type Batches, createBatches } from './batches.mts'
import { type Cdn, exampleOf, type PurgeRequest } from './cdns.mts'
import { accessTo, refused, withRemedy } from './http.mts'
import { cdnOf, read, type Settings } from './purge-settings.mts'
import { type Purged, purgedBy } from './purged.mts'

const TIMEOUT_MS = 10_000
// The responses of APIs are shorter.
const BODY_MAX_BYTES = 16 * 1024
const RETRY_MAX_MS = 10 * 60_000
// A CDN that limits requests for longer is an error: waiting is no attempt, and the operator would not see it.
const LIMITED_MAX_MS = 3_600_000
const WARN_EVERY_MS = 10 * 60_000
const REMEDY = 'CDN_PURGE_ALLOW_ADDRESSES'
// These may be caused by a single item of a batch. Others, for example of a wrong token, concern every request.
const OF_CONTENT: ReadonlySet<number> = new Set([400, 413, 414, 422, 431])
const EVENTS = ['original.deleted', 'original.trashed', 'alias.changed', 'client.changed'] as const

/** Purges a CDN of files that are no longer delivered, and of aliases that deliver another file. */
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
  concerns: (name, event) => name === TEST_EVENT || purgedBy(name, event).length > 0,
  targets: (_, options) => (cdnOf(read(options)) ? [read(options).cdn] : []),
  async check(options, { mayFetch }) {
    const { cdn, url, endpoint, allowAddresses } = read(options)
    const reached = cdn === 'url' && url !== '{url}' ? exampleOf(url)?.origin : endpoint
    if (reached === undefined) return
    await mayFetch(reached, accessTo(reached, allowAddresses)).catch((error) => {
      throw withRemedy(error, { url: reached, variable: REMEDY })
    })
  },
  on: {
    ...Object.fromEntries(
      EVENTS.map((name) => [
        name,
        (event: Events[EventName], context: EventContext) => purge(name, event, context),
      ]),
    ),
    [TEST_EVENT]: (event: Events[EventName], context: EventContext) => test(event, context),
  },
})

/** Purges a tag that no file has. Only for the operator: clients must not use up the requests of the account. */
async function test({ clientId }: { clientId: string }, context: EventContext): Promise<void> {
  if (clientId !== '') return
  const purged = { tag: 'sluice-test', paths: ['/sluice-test'] }
  await batchesOf(context)
    .add({ purged, context }, context.signal)
    .catch((error) => {
      throw error instanceof NotYet ? limited() : error
    })
}

async function purge(name: EventName, event: Events[EventName], context: EventContext): Promise<void> {
  // The further events of a file with many derivatives name the same file.
  if (/-\d+$/.test(context.id)) return
  const purged = purgedBy(name, event)
  const batches = batchesOf(context)
  const since = context.occurredAt.getTime()
  await Promise.all(purged.map((one) => batches.add({ purged: one, context }, context.signal))).catch(
    (error) => {
      throw error instanceof NotYet && Date.now() - since > LIMITED_MAX_MS ? limited() : error
    },
  )
  const againInMs = since + read(context.options).repeatMs - Date.now()
  if (againInMs > 0) throw new NotYet(againInMs)
}

function limited(): Problem {
  return refused('the CDN limits purges: it responded with 429')
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
    mayDivide: (error) => error instanceof Problem && OF_CONTENT.has(Number(error.members.remoteStatus)),
    async send(items, signal) {
      const [first] = items
      if (!first) return
      const requests = cdn.requests(
        items.map(({ purged }) => purged),
        Date.now(),
      )
      for (const request of requests) await send({ ...request, signal }, first.context, { cdn, given, items })
    },
  })
  batchesByOptions.set(options, batches)
  return batches
}

async function send(
  { url, ...request }: PurgeRequest & { signal: AbortSignal },
  { fetch, log }: EventContext,
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
    throw withRemedy(error, { url, variable: REMEDY })
  })
  try {
    const text = await textOf(body)
    for (const { context } of items)
      await context.report({ status, body: Readable.from([Buffer.from(text)]) })
    if (status === 429 && /^\d{1,6}$/.test(headers['retry-after'] ?? '')) {
      const delayMs = Math.min(RETRY_MAX_MS, 1000 * Math.max(1, Number(headers['retry-after'])))
      warnOfLimit(log, { host, delayMs })
      throw new NotYet(delayMs)
    }
    const isDone = (status >= 200 && status <= 299) || cdn.isAbsent?.(status) === true
    if (!isDone) throw refused(`${host} responded with ${status}`).with({ members: { remoteStatus: status } })
    if (given.cdn === 'cloudflare' && !/"success":\s*true/.test(text))
      throw refused(`${host} refused the purge`)
  } finally {
    body.destroy()
  }
}

let warnedAt = Number.NEGATIVE_INFINITY

function warnOfLimit(log: Log, fields: { host: string; delayMs: number }): void {
  if (Date.now() - warnedAt < WARN_EVERY_MS) return
  warnedAt = Date.now()
  log.warn(fields, 'the CDN limits purges, which wait')
}

/** The beginning of a body. A body that breaks off ends early. */
async function textOf(body: Readable): Promise<string> {
  let text = ''
  try {
    for await (const chunk of body) {
      text += chunk
      if (text.length > BODY_MAX_BYTES) break
    }
  } catch {
    // The status counts.
  }
  return text
}
