import { spawnSync } from 'node:child_process'
import { webcrypto } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { expect } from 'chai'
import webhook from '../../plugins/events/webhook.ts'
import { inProcessEventBus } from '../../src/adapters/event-bus/in-process.ts'
import { guardedFetcher } from '../../src/adapters/fetcher/guarded.ts'
import { embeddedJobs } from '../../src/adapters/jobs/embedded.ts'
import { EVENT_NAMES } from '../../src/core/events.ts'
import type { EventBus } from '../../src/core/ports/event-bus.ts'
import type { FetchRequest } from '../../src/core/ports/fetcher.ts'
import type { Jobs } from '../../src/core/ports/jobs.ts'
import { checkTargets } from '../../src/pipeline/load/check-event-plugin.ts'
import { createEventDelivery, RETRY_POLICY } from '../../src/service/events/delivery.ts'
import { kindOf } from '../../src/service/events/receiver.ts'
import { eventually } from '../support/eventually.ts'
import { type Receiver, receiver } from '../support/requests/receiver.ts'
import { rawRemote } from '../support/requests/remote.ts'
import { PROJECT, type RecordedLog, recordLog } from '../support/service.ts'
import { everyNth } from '../support/sized.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const OLD_SECRET = `whsec_${Buffer.alloc(24, 2).toString('base64')}`

describe('webhook', () => {
  let folder: string
  let log: RecordedLog
  let bus: EventBus
  let jobs: Jobs
  let target: Receiver
  const opened: Array<{ close(options: { graceMs: number }): Promise<void> }> = []

  beforeEach(async () => {
    folder = await temporaryFolder()
    log = recordLog()
    target = await receiver()
  })
  afterEach(async () => {
    await bus?.idle()
    for (const each of opened.splice(0)) await each.close({ graceMs: 0 })
    await target.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** The plugin behind a bus and a queue, as in the service; only the waits are short. */
  async function start(
    options: Record<string, unknown> = {},
    policy: Partial<typeof RETRY_POLICY> = {},
  ): Promise<void> {
    const given = { url: target.url('/hooks'), secret: SECRET, allowAddresses: ['127.0.0.1/32'], ...options }
    const merged = { ...webhook.options, ...given }
    jobs = await embeddedJobs({ folder, log })
    opened.push(jobs)
    bus = inProcessEventBus(log)
    const delivery = createEventDelivery({
      plugins: [{ plugin: webhook, options: merged, targets: checkTargets('webhook.ts', webhook, merged) }],
      jobs,
      fetcher: guardedFetcher(),
      log,
      policy: { ...RETRY_POLICY, retryMs: 40, ...policy },
    })
    delivery.listen(bus)
    delivery.work()
  }

  const emit = (clientId: string) => bus.emit('client.changed', { clientId })
  const received = (count: number, from = target) =>
    eventually(() => expect(from.received).to.have.length(count))
  const clientsOf = (from: Receiver) =>
    from.received.map(({ body }) => JSON.parse(String(body)).data.clientId)
  const quiet = () => pause(250)

  describe('the request', () => {
    it('is a POST with type, time and data, to the URL unchanged', async () => {
      await start({ url: target.url('/hooks?token=1') })
      const before = Date.now()
      bus.emit('archive.sent', { clientId: 'ü', archiveName: 'a.zip', entries: 2, errors: 0, bytes: 9 })
      await received(1)
      expect(target.requests[0]).to.include({ method: 'POST', url: '/hooks?token=1' })
      const { headers, body } = target.received[0] ?? expect.fail()
      expect(headers).to.include({ 'content-type': 'application/json', 'user-agent': 'Sluice' })
      const { timestamp, ...rest } = JSON.parse(String(body))
      expect(rest).to.deep.equal({
        type: 'archive.sent',
        data: { clientId: 'ü', archiveName: 'a.zip', entries: 2, errors: 0, bytes: 9 },
      })
      expect(timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(Date.parse(timestamp)).to.be.within(before, Date.now())
      expect(headers['webhook-id']).to.match(/^evt_[1-9A-HJ-NP-Za-km-z]{22}$/)
      expect(Number(headers['webhook-timestamp'])).to.be.within(Math.floor(before / 1000), Date.now() / 1000)
    })

    it('is signed as the Standard Webhooks specification requires', async () => {
      await start()
      emit('x')
      await received(1)
      const { headers, body } = target.received[0] ?? expect.fail()
      expect(await signedWith(SECRET, headers, body)).to.equal(true)
      expect(await signedWith(OLD_SECRET, headers, body)).to.equal(false)
      expect(await signedWith(SECRET, headers, Buffer.concat([body, Buffer.from(' ')]))).to.equal(false)
      expect(await signedWith(SECRET, { ...headers, 'webhook-id': 'evt_other' }, body)).to.equal(false)
      expect(await signedWith(SECRET, { ...headers, 'webhook-timestamp': '1' }, body)).to.equal(false)
      expect(headers['webhook-signature']).to.match(/^v1,[A-Za-z0-9+/]{43}=$/)
    })

    it('is signed with every secret during a rotation', async () => {
      await start({ secret: [SECRET, OLD_SECRET] })
      emit('x')
      await received(1)
      const { headers, body } = target.received[0] ?? expect.fail()
      expect(String(headers['webhook-signature']).split(' ')).to.have.length(2)
      for (const secret of [SECRET, OLD_SECRET])
        expect(await signedWith(secret, headers, body)).to.equal(true)
    })

    it('is sent for every event, each with its own ID', async () => {
      await start()
      for (const name of EVENT_NAMES) bus.emit(name, { clientId: name, derivatives: [] } as never)
      await received(EVENT_NAMES.length)
      expect(clientsOf(target).sort()).to.deep.equal([...EVENT_NAMES].sort())
      expect(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(
        EVENT_NAMES.length,
      )
    })

    it('is sent only for the configured events', async () => {
      await start({ events: ['archive.sent', 'original.stored'] })
      for (const name of EVENT_NAMES) bus.emit(name, { clientId: name } as never)
      await received(2)
      await quiet()
      expect(clientsOf(target).sort()).to.deep.equal(['archive.sent', 'original.stored'])
    })

    it('is not sent without a URL', async () => {
      await start({ url: [], secret: [] })
      emit('x')
      await quiet()
      expect(target.received).to.have.length(0)
      expect(log.lines).to.deep.equal([])
    })
  })

  describe('a receiver that fails', () => {
    it('gets the same event again, with the same ID and bytes, and a new signature, at growing intervals', async () => {
      await start()
      target.status = 500
      emit('x')
      await received(3)
      target.status = 200
      await received(4)
      await quiet()
      expect(target.received).to.have.length(4)
      const [first, ...rest] = target.received
      for (const { headers, body } of rest) {
        expect(body.equals(first?.body ?? Buffer.of())).to.equal(true)
        expect(headers['webhook-id']).to.equal(first?.headers['webhook-id'])
        expect(await signedWith(SECRET, headers, body)).to.equal(true)
      }
      const waits = target.received.slice(1).map(({ at }, i) => at - (target.received[i]?.at ?? 0))
      for (const [i, wait] of waits.entries()) expect(wait).to.be.at.least(20 * 2 ** i - 2)
    })

    it('gets the time of the attempt in the header, and the time of the event in the body', async () => {
      await start({}, { retryMs: 2400 })
      target.status = 500
      emit('x')
      await received(1)
      target.status = 200
      await received(2)
      const [first, second] = target.received.map(({ headers }) => Number(headers['webhook-timestamp']))
      expect(second).to.be.above(first ?? 0)
    })

    const failing = [300, 301, 302, 307, 308, 400, 401, 403, 404, 405, 409, 413, 429, 500, 502, 503]
    for (const status of everyNth(4, failing)) {
      it(`gets a retry after a ${status}, at its own URL, without following redirects`, async () => {
        await start()
        target.status = status
        emit('x')
        await received(2)
        target.status = 204
        await received(3)
        expect(new Set(target.requests.map(({ url }) => url))).to.deep.equal(new Set(['/hooks']))
      })
    }

    for (const status of everyNth(3, [200, 201, 202, 204, 206, 299])) {
      it(`gets no retry after a ${status}`, async () => {
        await start()
        target.status = status
        emit('x')
        await received(1)
        await quiet()
        expect(target.received).to.have.length(1)
      })
    }

    it('gets no retry however long its response is, and the response is not read', async () => {
      const chatty = await rawRemote((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\nstill here')
      })
      try {
        await start({ url: chatty.url() })
        emit('x')
        await eventually(() => expect(chatty.connections.made).to.equal(1))
        // By its status alone: were the answer read, it would take the whole ten seconds that it may.
        await eventually(() => expect(chatty.connections.open).to.equal(0))
        await quiet()
        expect(chatty.connections.made).to.equal(1)
        expect(log.lines).to.deep.equal([])
      } finally {
        await chatty.close()
      }
    })

    it('gets all missed events after an outage', async () => {
      const { port } = target
      await target.close()
      await start({ url: `http://127.0.0.1:${port}/hooks` })
      for (const client of ['a', 'b', 'c']) emit(client)
      await pause(150)
      target = await receiver(204, port)
      await received(3)
      expect(clientsOf(target).sort()).to.deep.equal(['a', 'b', 'c'])
    })

    it('gets as many retries as planned; then the event is dropped and logged', async () => {
      await start({}, { attempts: 3, retryMs: 10 })
      target.status = 500
      emit('x')
      await received(3)
      await quiet()
      expect(target.received).to.have.length(3)
      const id = String(target.received[0]?.headers['webhook-id'])
      const last = log.lines.at(-1)
      expect(last?.message).to.equal('job failed')
      expect(String(last?.fields.jobId)).to.include(id)
    })

    it('does not delay another receiver, which does not get the missed events', async () => {
      const other = await receiver()
      try {
        await start({ url: [target.url('/hooks'), other.url('/hooks')] })
        target.status = 500
        emit('x')
        await received(3)
        target.status = 200
        await received(4)
        await quiet()
        expect(other.received).to.have.length(1)
        expect(other.received[0]?.headers['webhook-id']).to.equal(target.received[0]?.headers['webhook-id'])
      } finally {
        await other.close()
      }
    })

    it('gets after a restart the events that were queued before', async () => {
      target.status = 500
      await start({}, { retryMs: 400 })
      emit('x')
      await received(1)
      await jobs.close({ graceMs: 1000 })
      target.status = 204
      await start()
      // On a slow machine, the retry may have come before the queue was closed.
      await eventually(() => expect(target.received.length).to.be.at.least(2))
      expect(new Set(clientsOf(target))).to.deep.equal(new Set(['x']))
    })

    it('has ten seconds for its response, of any length', async () => {
      const asked: FetchRequest[] = []
      const fetch = async (request: FetchRequest) => {
        asked.push(request)
        return { status: 200, headers: {}, body: Readable.from(['x']), url: request.url }
      }
      const options = { ...webhook.options, url: target.url(), secret: SECRET }
      const stamp = { id: 'evt_x', occurredAt: new Date(), target: target.url() }
      const { signal } = new AbortController()
      const report = async () => {}
      const context = { ...stamp, options, fetch, report, stop: () => expect.fail(), signal, log }
      await webhook.on['client.changed']?.({ clientId: 'x' }, context)
      expect(asked).to.have.length(1)
      expect(asked[0]).to.include({ timeoutMs: 10_000, maxBytes: Number.MAX_SAFE_INTEGER, signal })
    })
  })

  describe('a receiver that answers 410', () => {
    it('gets no more events, neither this one nor later ones; other receivers continue to get theirs', async () => {
      const other = await receiver()
      try {
        await start({ url: [target.url('/hooks'), other.url('/hooks')] })
        target.status = 410
        emit('a')
        await received(1)
        await received(1, other)
        target.status = 204
        emit('b')
        await received(2, other)
        await quiet()
        expect(clientsOf(target)).to.deep.equal(['a'])
        const errors = log.lines.filter(({ level }) => level === 'error')
        expect(errors).to.have.length(1)
        expect(JSON.stringify(errors[0]?.fields)).to.include('410').and.include(`127.0.0.1:${target.port}`)
      } finally {
        await other.close()
      }
    })

    it('gets none of the events that wait for a retry', async () => {
      await start({}, { retryMs: 1000 })
      target.status = 500
      emit('a')
      await received(1)
      target.status = 410
      emit('b')
      await received(2)
      // The retry ends its job without a request.
      const none = { waiting: 0, running: 0 }
      await eventually(async () => expect(await jobs.counts(kindOf(webhook))).to.deep.equal(none))
      expect(clientsOf(target)).to.deep.equal(['a', 'b'])
    })
  })

  describe('the URL', () => {
    it('is refused for private addresses, unless they are allowed', async () => {
      await start({ allowAddresses: ['10.0.0.0/8'] })
      emit('x')
      await eventually(() => expect(JSON.stringify(log.lines)).to.include('job failed and will be retried'))
      expect(target.connections.made).to.equal(0)
    })

    it('is in no queue entry and no log line, since it may contain a token', async () => {
      await start({ url: target.url('/hooks/secret-token') })
      target.status = 500
      emit('x')
      await received(2)
      await jobs.close({ graceMs: 1000 })
      const lines = inspect(log.lines, { depth: 10 })
      expect(lines).to.include('responded with 500').and.not.include('secret-token')
      const stored = (text: string) => spawnSync('grep', ['-rl', text, folder], { encoding: 'utf8' }).stdout
      expect(stored('client.changed')).to.not.equal('')
      expect(stored('secret-token')).to.equal('')
    })
  })

  describe('options', () => {
    const url = 'https://example.com/hooks'
    const refused: Array<[options: Record<string, unknown>, message: string]> = [
      [{ url }, 'a secret, since there is a url'],
      [{ url, secret: [] }, 'a secret, since there is a url'],
      [{ url: 'example.com', secret: SECRET }, 'for url'],
      [{ url: 'ftp://example.com', secret: SECRET }, 'for url'],
      [{ url: 'https://user:password@example.com', secret: SECRET }, 'for url'],
      [{ url: [url, 7], secret: SECRET }, 'for url'],
      [{ url, secret: 'secret' }, 'for secret'],
      [{ url, secret: Buffer.alloc(32).toString('base64') }, 'for secret'],
      [{ url, secret: `whsec_${Buffer.alloc(23).toString('base64')}` }, 'for secret'],
      [{ url, secret: `whsec_${Buffer.alloc(65).toString('base64')}` }, 'for secret'],
      [{ url, secret: `${SECRET}!` }, 'for secret'],
      [{ url, secret: [SECRET, ''] }, 'for secret'],
      [{ url, secret: SECRET, events: ['original.store'] }, 'expected events to be among original.stored, '],
      [{ url, secret: SECRET, allowAddresses: '10.0.0.1' }, 'for allowAddresses'],
      [{ url, secret: SECRET, adress: [] }, 'adress'],
    ]
    for (const [options, message] of refused) {
      it(`prevent the start: ${JSON.stringify(options).replaceAll(SECRET, '<secret>')}`, () => {
        const check = () => checkTargets('webhook.ts', webhook, { ...webhook.options, ...options })
        expect(check)
          .to.throw(`plugin webhook.ts: `)
          .and.to.satisfy(({ message: text }: Error) => {
            expect(text).to.include(message).and.to.not.include('password').and.not.include(SECRET)
            return true
          })
      })
    }

    it('may have one or several URLs and secrets', () => {
      const options = {
        url: [url, `${url}2`, url],
        secret: SECRET,
        events: 'archive.sent',
        allowAddresses: [],
      }
      const targets = checkTargets('webhook.ts', webhook, options)
      expect(targets.get('archive.sent')).to.deep.equal([url, `${url}2`])
      expect(targets.get('original.stored')).to.deep.equal([])
    })
  })

  describe('docs/how-to/webhooks.md', () => {
    it('has code for Node and Python that distinguishes valid requests from invalid ones', async () => {
      const text = await readFile(join(PROJECT, 'docs/how-to/webhooks.md'), 'utf8')
      const block = (language: string) =>
        new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(text)?.[1] ??
        expect.fail(`no block of ${language}`)
      const file = join(folder, 'verify.mjs')
      await writeFile(file, block('js'))
      const { verify } = await import(pathToFileURL(file).href)
      await writeFile(
        join(folder, 'verify.py'),
        `${block('python')}
import json, sys
for case in json.load(sys.stdin):
    print(verify(case["headers"], case["body"].encode(), case["secret"]))
`,
      )

      await start({ secret: [OLD_SECRET, SECRET] })
      bus.emit('client.changed', { clientId: 'ünïcode' })
      await received(1)
      const { headers, body } = target.received[0] ?? expect.fail()
      const old = String(Math.floor(Date.now() / 1000) - 301)
      const cases = [
        { headers, body: String(body), secret: SECRET, good: true },
        { headers, body: String(body), secret: OLD_SECRET, good: true },
        { headers, body: `${body} `, secret: SECRET, good: false },
        { headers, body: String(body), secret: SECRET.replace('AQ', 'BQ'), good: false },
        { headers: { ...headers, 'webhook-id': 'evt_x' }, body: String(body), secret: SECRET, good: false },
        {
          headers: { ...headers, 'webhook-signature': 'v1,' },
          body: String(body),
          secret: SECRET,
          good: false,
        },
        {
          headers: { ...headers, 'webhook-timestamp': 'x' },
          body: String(body),
          secret: SECRET,
          good: false,
        },
        { headers: {}, body: String(body), secret: SECRET, good: false },
        { ...(await replayed(old, body)), secret: SECRET, good: false },
      ]
      const good = cases.map((each) => each.good)
      expect(cases.map((each) => verify(each.headers, Buffer.from(each.body), each.secret))).to.deep.equal(
        good,
      )
      const python = spawnSync('python3', [join(folder, 'verify.py')], {
        input: JSON.stringify(cases),
        encoding: 'utf8',
      })
      expect(python.stderr).to.equal('')
      expect(python.stdout.trim().split('\n')).to.deep.equal(good.map((each) => (each ? 'True' : 'False')))
    })

    it('states the number of attempts', async () => {
      const text = await readFile(join(PROJECT, 'docs/how-to/webhooks.md'), 'utf8')
      expect(text).to.include(`There are ${RETRY_POLICY.attempts} attempts`)
      // Every wait is cut by a quarter on average.
      const waits = Array.from({ length: RETRY_POLICY.attempts - 1 }, (_, i) => RETRY_POLICY.retryMs * 2 ** i)
      const hours =
        (waits.reduce((sum, wait) => sum + Math.min(wait, RETRY_POLICY.retryMaxMs), 0) * 0.75) / 3_600_000
      expect(hours).to.be.within(20, 30)
    })
  })

  it('is checked here by code that passes the example of the reference libraries', async () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    const body = Buffer.from('{"test": 2432232314}')
    expect(await signedWith('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', headers, body)).to.equal(true)
  })
})

/** The specification, word for word: whether one of the signatures is that of this secret. */
async function signedWith(secret: string, headers: IncomingHttpHeaders, body: Buffer): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = Uint8Array.from(atob(secret.slice('whsec_'.length)), (char) => char.charCodeAt(0))
  const key = await webcrypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  const content = Buffer.concat([
    Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`),
    body,
  ])
  for (const signature of String(headers['webhook-signature']).split(' ')) {
    const [version, base64 = ''] = signature.split(',')
    if (version !== 'v1') continue
    if (await webcrypto.subtle.verify('HMAC', key, Buffer.from(base64, 'base64'), content)) return true
  }
  return false
}

/** A request that is rightly signed, and as old as `timestamp`. */
async function replayed(timestamp: string, body: Buffer) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await webcrypto.subtle.importKey('raw', Buffer.alloc(32, 1), algorithm, false, ['sign'])
  const content = Buffer.concat([Buffer.from(`evt_old.${timestamp}.`), body])
  const signature = `v1,${Buffer.from(await webcrypto.subtle.sign('HMAC', key, content)).toString('base64')}`
  const headers = { 'webhook-id': 'evt_old', 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return { headers, body: String(body) }
}
