import { createHash, createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { SignatureV4 } from '@smithy/signature-v4'
import { expect } from 'chai'
import { signedForAws } from '../../plugins/events/aws-signature.mts'
import { createBatches } from '../../plugins/events/batches.mts'
import cdnPurge from '../../plugins/events/cdn-purge.ts'
import { inProcessEventBus } from '../../src/adapters/event-bus/in-process.ts'
import { guardedFetcher } from '../../src/adapters/fetcher/guarded.ts'
import { embeddedJobs } from '../../src/adapters/jobs/embedded.ts'
import { sha256 } from '../../src/core/bytes/digest.ts'
import { clientTag, folderTag } from '../../src/core/caching/cache-tags.ts'
import type { Events } from '../../src/core/events.ts'
import type { ObjectKey } from '../../src/core/files/object-key.ts'
import type { EventBus } from '../../src/core/ports/event-bus.ts'
import { NotYet } from '../../src/core/ports/jobs.ts'
import { checkTargets } from '../../src/pipeline/load/check-event-plugin.ts'
import { createEventDelivery, RETRY_PLAN } from '../../src/service/events/delivery.ts'
import { eventually } from '../support/eventually.ts'
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
      plan: { ...RETRY_PLAN, retryMs: 40 },
    })
    delivery.listen(bus)
    delivery.work()
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
        `/v1/image/upload/pub_x/${full}*`,
        `/v1/image/upload/pub_x/${short}`,
        `/v1/image/info/pub_x/${full}`,
        `/v1/image/info/pub_x/${short}`,
        `/v1/bucket/pub_x/${full}`,
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

  it('purges again later: also what was delivered while the change became known', async () => {
    const options = optionsOf({ cdn: 'cloudflare', endpoint: cdn.url('/api'), repeatMs: 3_600_000 })
    const handle = (occurredAt: Date) =>
      Promise.resolve(
        cdnPurge.on['original.deleted']?.(deleted(), {
          id: 'evt_1',
          occurredAt,
          target: 'cloudflare',
          options,
          fetch: guardedFetcher().fetch,
          stop() {},
          async report() {},
          signal: new AbortController().signal,
          log,
        }),
      )
    const putOff = await handle(new Date()).then(
      () => undefined,
      (error) => error,
    )
    expect(putOff).to.be.instanceOf(NotYet)
    expect(putOff.delayMs).to.be.within(1, 3_600_000)
    await handle(new Date(Date.now() - 3_600_000))
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
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7].map((n) => batches.add(n)))
    expect(sent).to.deep.equal([[1, 2, 3], [4, 5, 6], [7]])
    expect(outcomes.map(({ status }) => status === 'fulfilled')).to.deep.equal(
      [1, 2, 3, 4, 5, 6, 7].map((n) => n < 4 || n > 6),
    )
  })
})
