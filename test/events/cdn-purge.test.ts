import { createHash, createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { SignatureV4 } from '@smithy/signature-v4'
import { expect } from 'chai'
import { signedForAws } from '../../plugins/events/aws-signature.mts'
import { createBatches } from '../../plugins/events/batches.mts'
import cdnPurge from '../../plugins/events/cdn-purge.ts'
import { byTemplate, cloudfront } from '../../plugins/events/cdns.mts'
import { purgedBy } from '../../plugins/events/purged.mts'
import { inProcessEventBus } from '../../src/adapters/event-bus/in-process.ts'
import { guardedFetcher } from '../../src/adapters/fetcher/guarded.ts'
import { embeddedJobs } from '../../src/adapters/jobs/embedded.ts'
import { sha256 } from '../../src/core/bytes/digest.ts'
import { aliasTag, clientTag, folderTag } from '../../src/core/caching/cache-tags.ts'
import type { EventName, Events } from '../../src/core/events.ts'
import type { ObjectKey } from '../../src/core/files/object-key.ts'
import type { EventContext } from '../../src/core/plugin-api/event-plugin.ts'
import type { EventBus } from '../../src/core/ports/event-bus.ts'
import { NotYet } from '../../src/core/ports/jobs.ts'
import { checkTargets } from '../../src/pipeline/load/check-event-plugin.ts'
import { createEventDelivery, RETRY_POLICY } from '../../src/service/events/delivery.ts'
import { eventually } from '../support/eventually.ts'
import { rejection } from '../support/rejection.ts'
import { type Receiver, receiver } from '../support/requests/receiver.ts'
import { remote } from '../support/requests/remote.ts'
import { type RecordedLog, recordLog } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ID = '7uLqaNcfyNPLQRQwzFpEzc'
const TOKEN = 'secret-token'

/** A deleted file. @param n from 1 to 9 */
function deleted(n = 1, folder = ''): Events['original.deleted'] {
  const sourceName = `${ID.slice(0, -1)}${n}.png`
  const key = `${folder === '' ? '' : `${folder}/`}image/png/${sourceName}` as ObjectKey
  const path = folder === '' ? sourceName : encodeURI(key)
  const src = `https://files.example/v1/image/upload/pub_x/${path}`
  return { clientId: 'first', key, src, format: 'png', folder, derivatives: [] }
}
const tagOf = (n: number) => `f-${ID.slice(0, -1)}${n}`

describe('cdn-purge', () => {
  let folder: string
  let log: RecordedLog
  let bus: EventBus
  let cdn: Receiver
  const opened: Array<{ close(options: { graceMs: number }): Promise<void> }> = []

  beforeEach(async () => {
    folder = await temporaryFolder()
    log = recordLog()
    cdn = await receiver(200)
    cdn.answer = '{"success": true}'
  })
  afterEach(async () => {
    await bus?.idle()
    for (const each of opened.splice(0)) await each.close({ graceMs: 0 })
    await cdn.close()
    await rm(folder, { recursive: true, force: true })
  })

  const optionsOf = (given: Record<string, unknown>) => ({
    ...cdnPurge.options,
    id: 'zone1',
    token: TOKEN,
    tags: ['cache-tag', 'surrogate-key', 'cdn-tag', 'xkey'],
    baseUrl: 'https://files.example',
    allowAddresses: ['127.0.0.1/32'],
    repeatMs: 0,
    ...given,
  })

  async function start(given: Record<string, unknown>): Promise<void> {
    const options = optionsOf({ endpoint: cdn.url('/api'), ...given })
    const jobs = await embeddedJobs({ folder, log })
    opened.push(jobs)
    bus = inProcessEventBus(log)
    const delivery = createEventDelivery({
      plugins: [{ plugin: cdnPurge, options, targets: checkTargets('cdn-purge.ts', cdnPurge, options) }],
      jobs,
      fetcher: guardedFetcher(),
      log,
      policy: { ...RETRY_POLICY, retryMs: 40 },
    })
    delivery.listen(bus)
    delivery.work()
  }

  /** Calls the handler itself, without the queue. */
  async function handle<N extends EventName>(
    name: N,
    event: Events[N],
    context: Partial<EventContext> & Pick<EventContext, 'options'>,
  ): Promise<void> {
    await cdnPurge.on[name]?.(event as never, {
      id: 'evt_1',
      occurredAt: new Date(),
      target: 'x',
      fetch: guardedFetcher().fetch,
      stop() {},
      async report() {},
      signal: new AbortController().signal,
      log,
      ...context,
    })
  }

  const received = (count: number) => eventually(() => expect(cdn.received).to.have.length(count))
  const bodyOf = (n = 0) => String(cdn.received[n]?.body)
  const headersOf = (n = 0) => cdn.received[n]?.headers ?? {}

  describe('the requests', () => {
    it('to Cloudflare name the tags of a zone', async () => {
      await start({ cdn: 'cloudflare' })
      bus.emit('original.deleted', deleted())
      await received(1)
      expect(cdn.requests[0]).to.include({ method: 'POST', url: '/api/zones/zone1/purge_cache' })
      expect(headersOf()).to.include({
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
      })
      expect(JSON.parse(bodyOf())).to.deep.equal({ tags: [tagOf(1)] })
    })

    it('to Fastly name the surrogate keys of a service', async () => {
      await start({ cdn: 'fastly' })
      bus.emit('original.trashed', { ...deleted(), tags: [], metadata: {}, until: 1 })
      await received(1)
      expect(cdn.requests[0]).to.include({ method: 'POST', url: '/api/service/zone1/purge' })
      expect(headersOf()).to.include({ 'fastly-key': TOKEN, accept: 'application/json' })
      expect(JSON.parse(bodyOf())).to.deep.equal({ surrogate_keys: [tagOf(1)] })
    })

    it('to Bunny name one tag each', async () => {
      await start({ cdn: 'bunny' })
      bus.emit('original.deleted', deleted(1))
      bus.emit('original.deleted', deleted(2))
      await received(2)
      expect(cdn.requests[0]).to.include({ method: 'POST', url: '/api/pullzone/zone1/purgeCache' })
      expect(headersOf()).to.include({ accesskey: TOKEN, 'content-type': 'application/json' })
      const tags = [bodyOf(0), bodyOf(1)].map((body) => JSON.parse(body))
      expect(tags).to.have.deep.members([{ CacheTag: tagOf(1) }, { CacheTag: tagOf(2) }])
    })

    it('to CloudFront list the paths of the file, and are signed', async () => {
      await start({ cdn: 'cloudfront', token: 'AKID:se/c:ret' })
      const { key, ...event } = deleted(1, 'a&b c')
      bus.emit('original.deleted', { key, ...event })
      await received(1)
      expect(cdn.requests[0]).to.include({
        method: 'POST',
        url: '/api/2020-05-31/distribution/zone1/invalidation',
      })
      const full = `a%26b%20c/image/png/${ID.slice(0, -1)}1.png`
      const short = `a%26b%20c/${ID.slice(0, -1)}1.png`
      expect([...bodyOf().matchAll(/<Path>(.*?)<\/Path>/g)].map(([, path]) => path)).to.deep.equal([
        `/v1/image/upload/pub_x/${short}*`,
        `/v1/image/upload/pub_x/${full}*`,
        `/v1/image/info/pub_x/${full}*`,
        `/v1/image/info/pub_x/${short}*`,
        `/v1/bucket/pub_x/${full}*`,
      ])
      expect(bodyOf()).to.match(
        /^<\?xml version="1.0" encoding="UTF-8"\?><InvalidationBatch xmlns="http:\/\/cloudfront.amazonaws.com\/doc\/2020-05-31\/"><Paths><Quantity>5<\/Quantity><Items>.*<\/Items><\/Paths><CallerReference>sluice-[\w-]+<\/CallerReference><\/InvalidationBatch>$/,
      )
      const { authorization, ...headers } = headersOf()
      const time = String(headers['x-amz-date'])
      expect(authorization).to.match(
        /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/us-east-1\/cloudfront\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
      )
      expect(time).to.match(/^\d{8}T\d{6}Z$/)
      expect(headers['x-amz-content-sha256']).to.equal(sha256(bodyOf()))
    })

    it('of a template have tags, a list of tags, or the URLs of the file', async () => {
      await start({
        cdn: 'url',
        url: cdn.url('/purge/{tag}?t={tag}'),
        method: 'DELETE',
        headers: `xkey-purge: {tag}\nAuthorization: Basic ${TOKEN}`,
      })
      bus.emit('client.changed', { clientId: 'first', withdrawn: ['a/b c'] })
      await received(1)
      const tag = folderTag('first', 'a/b c')
      const encoded = encodeURIComponent(tag)
      expect(cdn.requests[0]).to.include({ method: 'DELETE', url: `/purge/${encoded}?t=${encoded}` })
      expect(headersOf()).to.include({ 'xkey-purge': tag, authorization: `Basic ${TOKEN}` })
    })

    it('of a template with {path} or {url} are one for each URL of the file', async () => {
      await start({ cdn: 'url', url: `${cdn.url('')}{path}`, headers: 'X-Url: {url}', tags: [] })
      bus.emit('original.deleted', deleted(1))
      await received(5)
      const full = `image/png/${ID.slice(0, -1)}1.png`
      const short = `${ID.slice(0, -1)}1.png`
      const paths = [
        `/v1/image/upload/pub_x/${short}`,
        `/v1/image/upload/pub_x/${full}`,
        `/v1/image/info/pub_x/${full}`,
        `/v1/image/info/pub_x/${short}`,
        `/v1/bucket/pub_x/${full}`,
      ]
      expect(cdn.requests.map(({ method, url }) => `${method} ${url}`)).to.deep.equal(
        paths.map((path) => `PURGE ${path}`),
      )
      expect(cdn.received.map(({ headers }) => headers['x-url'])).to.deep.equal(
        paths.map((path) => `https://files.example${path}`),
      )
    })

    it('name a client or a folder that is no longer public, and nothing for other changes', async () => {
      await start({ cdn: 'cloudflare' })
      bus.emit('client.changed', { clientId: 'other' })
      bus.emit('client.changed', { clientId: 'first', withdrawn: [''] })
      await received(1)
      bus.emit('client.changed', { clientId: 'first', withdrawn: ['p', 'q'] })
      await received(2)
      expect(JSON.parse(bodyOf(0))).to.deep.equal({ tags: [clientTag('first')] })
      expect(JSON.parse(bodyOf(1))).to.deep.equal({
        tags: [folderTag('first', 'p'), folderTag('first', 'q')],
      })
    })
  })

  it('sends the events of a busy time in few requests, each tag once', async () => {
    const sent: string[][] = []
    let respond = () => {}
    const busy = await remote(async (req, res) => {
      let body = ''
      for await (const chunk of req) body += chunk
      sent.push(JSON.parse(body).surrogate_keys)
      if (sent.length === 1) respond = () => res.end('{}')
      else res.end('{}')
    })
    try {
      await start({ cdn: 'fastly', endpoint: busy.url('') })
      bus.emit('original.deleted', deleted(1))
      await eventually(() => expect(sent).to.have.length(1))
      for (const n of [2, 3, 4, 5, 6, 7, 8, 9, 2]) bus.emit('original.deleted', deleted(n))
      await bus.idle()
      respond()
      await eventually(() => expect(new Set(sent.flat()).size).to.equal(9))
      expect(sent.length).to.be.below(9)
      for (const tags of sent) expect(new Set(tags).size).to.equal(tags.length)
    } finally {
      respond()
      await busy.close()
    }
  })

  it('retries after an error, and writes no secret to the log', async () => {
    await start({ cdn: 'cloudflare' })
    cdn.status = 403
    bus.emit('original.deleted', deleted())
    await received(2)
    cdn.status = 200
    await received(3)
    expect(JSON.stringify(log.lines)).to.not.contain(TOKEN)
  })

  it('writes no secret of the URL to the log', async () => {
    await start({ cdn: 'url', url: cdn.url(`/${TOKEN}/{tag}`) })
    cdn.status = 403
    bus.emit('original.deleted', deleted())
    await received(2)
    expect(JSON.stringify(log.lines)).to.contain('responded with 403').and.not.contain(TOKEN)
  })

  it('sends a refused batch again in halves, so that one item does not block others', async () => {
    const sent: string[][] = []
    const strict = await remote(async (req, res) => {
      let body = ''
      for await (const chunk of req) body += chunk
      const keys: string[] = JSON.parse(body).surrogate_keys
      sent.push(keys)
      res.writeHead(keys.includes(tagOf(2)) ? 400 : 200).end()
    })
    try {
      const options = optionsOf({ cdn: 'fastly', endpoint: strict.url('') })
      const outcomes = await Promise.allSettled(
        [1, 2, 3, 4].map((n) => handle('original.deleted', deleted(n), { options })),
      )
      expect(outcomes.map(({ status }) => status === 'fulfilled')).to.deep.equal([true, false, true, true])
      expect(sent.map(({ length }) => length)).to.deep.equal([4, 2, 1, 1, 2])
    } finally {
      await strict.close()
    }
  })

  it('waits as long as the CDN demands, through the queue, and warns once', async () => {
    await start({ cdn: 'fastly' })
    Object.assign(cdn, { status: 429, headers: { 'retry-after': '1' } })
    bus.emit('original.deleted', deleted())
    await received(1)
    cdn.status = 200
    await received(2)
    expect(log.lines.filter(({ message }) => message === 'the CDN limits purges, which wait')).to.have.length(
      1,
    )
    expect(JSON.stringify(log.lines)).to.not.contain('job failed')
  })

  it('fails if the CDN still limits purges an hour after the event', async () => {
    const options = optionsOf({ cdn: 'fastly', endpoint: cdn.url('') })
    Object.assign(cdn, { status: 429, headers: { 'retry-after': '1' } })
    const late = await rejection(
      handle('original.deleted', deleted(), { options, occurredAt: new Date(Date.now() - 3_700_000) }),
    )
    expect(late).to.not.be.instanceOf(NotYet)
    expect(String(late)).to.contain('429')
  })

  it('fails if Cloudflare refuses a purge by its body', async () => {
    cdn.answer = '{ "success": false }'
    const options = optionsOf({ cdn: 'cloudflare', endpoint: cdn.url('') })
    expect(String(await rejection(handle('original.deleted', deleted(), { options })))).to.contain('refused')
  })

  for (const [url, isFine] of [
    ['/{tag}', false],
    ['/{tags}', false],
    ['/x?p={path}', true],
  ] as const)
    it(`takes 404 for ${isFine ? 'an absent file' : 'an error'} with ${url}`, async () => {
      cdn.status = 404
      const options = optionsOf({ cdn: 'url', url: cdn.url(url) })
      const outcome = await handle('original.deleted', deleted(), { options }).then(
        () => true,
        () => false,
      )
      expect(outcome).to.equal(isFine)
    })

  it('fails for a folder or a client with {path} or {url}, which purge only files', async () => {
    const options = optionsOf({ cdn: 'url', url: `${cdn.url('')}{path}` })
    const event = { clientId: 'first', withdrawn: ['p'] }
    expect(String(await rejection(handle('client.changed', event, { options })))).to.contain('only files')
    expect(cdn.received).to.have.length(0)
  })

  it('purges a file with many derivatives, which are several events in the queue, once', async () => {
    const options = optionsOf({ cdn: 'fastly', endpoint: cdn.url('') })
    for (const id of ['evt_1', 'evt_1-2', 'evt_1-3'])
      await handle('original.deleted', deleted(), { options, id })
    expect(cdn.received).to.have.length(1)
  })

  it('is tested only for the operator, not for clients', async () => {
    const options = optionsOf({ cdn: 'fastly', endpoint: cdn.url('') })
    await handle('webhook.test', { clientId: 'first' }, { options })
    expect(cdn.received).to.have.length(0)
    await handle('webhook.test', { clientId: '' }, { options })
    expect(cdn.received).to.have.length(1)
  })

  it('purges an alias that was set to another file or deleted, by its tag or path, and nothing of a new one', () => {
    const src = 'https://files.example/v1/video/alias/pub_x/a/b%20c'
    const event = { clientId: 'first', name: 'a/b c', src }
    const key = `video/mp4/${ID}.mp4` as ObjectKey
    const formerKey = `image/png/${ID}.png` as ObjectKey
    const purged = [{ tag: aliasTag('first', 'a/b c'), paths: ['/v1/image/alias/pub_x/a/b%20c'] }]
    expect(purgedBy('alias.changed', { ...event, key, formerKey })).to.deep.equal(purged)
    expect(purgedBy('alias.changed', { ...event, formerKey })).to.deep.equal(purged)
    expect(purgedBy('alias.changed', { ...event, key })).to.deep.equal([])
  })

  it('cuts the paths of CloudFront at *, and stays below 15 of them', () => {
    const distribution = cloudfront({ id: 'E1', token: 'a:b', basePath: '/base' })
    const [request] = distribution.requests(purgedBy('original.deleted', deleted(1, 'a*b')), 0)
    expect([...String(request?.body).matchAll(/<Path>(.*?)<\/Path>/g)].map(([, path]) => path)).to.deep.equal(
      ['/base/v1/image/upload/pub_x/a*', '/base/v1/image/info/pub_x/a*', '/base/v1/bucket/pub_x/a*'],
    )
    const [all] = distribution.requests(purgedBy('client.changed', { clientId: 'c', withdrawn: ['p'] }), 0)
    expect(all?.body).to.contain('<Path>/base/v1/*</Path>')
    expect(
      distribution.max * purgedBy('original.deleted', deleted()).flatMap(({ paths }) => paths).length,
    ).to.equal(15)
  })

  it('sends lists of tags below 8 kB', () => {
    const folders = Array.from({ length: 100 }, (_, n) => `${'日'.repeat(8)}${n}`.slice(0, 10))
    const cache = byTemplate({ url: 'http://c/{tags}', method: 'GET', headers: 'a: {tags}', baseUrl: '' })
    const withdrawn = folders.slice(0, cache.max)
    const [request] = cache.requests(purgedBy('client.changed', { clientId: 'c', withdrawn }), 0)
    expect(request?.url.length).to.be.below(8000)
    expect(request?.headers.a?.length).to.be.below(8000)
  })

  it('purges again later: also what was delivered while the change became known', async () => {
    const options = optionsOf({ cdn: 'cloudflare', endpoint: cdn.url('/api'), repeatMs: 3_600_000 })
    const putOff = await rejection(handle('original.deleted', deleted(), { options }))
    expect(putOff).to.be.instanceOf(NotYet)
    expect((putOff as NotYet).delayMs).to.be.within(1, 3_600_000)
    const occurredAt = new Date(Date.now() - 3_600_000)
    await handle('original.deleted', deleted(), { options, occurredAt })
    expect([bodyOf(0), bodyOf(1)]).to.deep.equal([bodyOf(0), bodyOf(0)])
    expect(cdn.received).to.have.length(2)
  })

  describe('the settings', () => {
    const refusal = (given: Record<string, unknown>) => {
      try {
        checkTargets('cdn-purge.ts', cdnPurge, optionsOf(given))
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }

    for (const [given, expected] of [
      [{ cdn: 'cloudflare', id: '' }, 'CDN_PURGE_ID'],
      [{ cdn: 'fastly', token: '' }, 'CDN_PURGE_TOKEN'],
      [{ cdn: 'fastly', tags: ['cache-tag'] }, 'CDN_TAGS=surrogate-key'],
      [{ cdn: 'bunny', tags: [] }, 'CDN_TAGS=cdn-tag'],
      [{ cdn: 'cloudfront', token: 'AKID' }, '<access key ID>:<secret access key>'],
      [{ cdn: 'url', url: '' }, 'CDN_PURGE_URL'],
      [{ cdn: 'url', url: 'http://cache.example/' }, '{tag}'],
      [{ cdn: 'url', url: 'http://cache.example/{tag}', tags: [] }, 'CDN_TAGS'],
      [{ cdn: 'url', url: 'http://cache.example/{tag}{path}' }, 'either tags'],
      [{ cdn: 'url', url: 'http://a:b@cache.example/{tag}' }, 'no user name'],
      [{ cdn: 'url', url: 'http://cache.example{path}', headers: 'Host: a.example' }, 'no header Host'],
    ] as const)
      it(`are refused without what ${given.cdn} needs: ${expected}`, () => {
        expect(refusal(given)).to.contain(expected)
      })

    it('are off by default, without targets', () => {
      const targets = checkTargets('cdn-purge.ts', cdnPurge, cdnPurge.options ?? {})
      expect([...targets.values()].flat()).to.deep.equal([])
    })

    it('of a private address are refused with the variable to set', async () => {
      await start({ cdn: 'url', url: cdn.url('/{tag}'), allowAddresses: [] })
      bus.emit('original.deleted', deleted())
      await eventually(() => expect(JSON.stringify(log.lines)).to.contain('CDN_PURGE_ALLOW_ADDRESSES'))
    })
  })
})

describe('the signature for AWS', () => {
  it('is that of the SDK', async () => {
    const now = Date.UTC(2026, 10, 30, 12, 34, 56)
    const request = {
      url: 'https://cloudfront.amazonaws.com/2020-05-31/distribution/E1/invalidation',
      method: 'POST',
      headers: { 'content-type': 'application/xml' },
      body: '<a>é</a>',
    }
    const credentials = { accessKeyId: 'AKID', secretAccessKey: 'se/c:ret' }
    const place = { region: 'us-east-1', service: 'cloudfront' }
    class Sha256 {
      #hash: import('node:crypto').Hash | import('node:crypto').Hmac
      constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
        this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Buffer)
      }
      update(data: string | Uint8Array) {
        this.#hash.update(data)
      }
      async digest() {
        return new Uint8Array(this.#hash.digest())
      }
      reset() {}
    }
    const signer = new SignatureV4({ ...place, credentials, sha256: Sha256 as never })
    const { hostname, pathname: path } = new URL(request.url)
    const headers = { ...request.headers, host: hostname, 'x-amz-content-sha256': sha256(request.body) }
    const signed = await signer.sign(
      { ...request, protocol: 'https:', hostname, path, headers, query: {} },
      { signingDate: new Date(now) },
    )
    expect(signedForAws(request, { ...credentials, ...place, now }).authorization).to.equal(
      signed.headers.authorization,
    )
  })
})

describe('batches', () => {
  it('have at most the maximum of items, and a failed batch fails only its items', async () => {
    const sent: number[][] = []
    const batches = createBatches<number>({
      max: 3,
      atOnce: 1,
      async send(items) {
        sent.push([...items])
        if (items.includes(4)) throw new Error('refused')
      },
    })
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4, 5, 6, 7].map((n) => batches.add(n, new AbortController().signal)),
    )
    expect(sent).to.deep.equal([[1, 2, 3], [4, 5, 6], [7]])
    expect(outcomes.map(({ status }) => status === 'fulfilled')).to.deep.equal(
      [1, 2, 3, 4, 5, 6, 7].map((n) => n < 4 || n > 6),
    )
  })

  it('do not send items that were aborted before, and abort a batch without any others', async () => {
    const sent: number[] = []
    const begun: AbortSignal[] = []
    const batches = createBatches<number>({
      max: 1,
      atOnce: 1,
      async send([item = 0], signal) {
        sent.push(item)
        begun.push(signal)
        if (item === 1)
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()]
    const [one, two] = [batches.add(1, first.signal), batches.add(2, second.signal)].map((each) =>
      rejection(each),
    )
    const last = batches.add(3, third.signal)
    await eventually(() => expect(begun).to.have.length(1))
    second.abort(new Error('over'))
    expect(String(await two)).to.contain('over')
    first.abort(new Error('late'))
    expect(String(await one)).to.contain('late')
    await last
    expect(sent).to.deep.equal([1, 3])
  })
})
