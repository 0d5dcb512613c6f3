import { expect } from 'chai'
import pino from 'pino'
import { inRequest } from '../../../src/core/request-context.ts'
import { fieldsOfRequest } from '../../../src/process/web/log.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { postForm } from '../../support/requests/multipart.ts'
import { type Receiver, receiver } from '../../support/requests/receiver.ts'
import { type Remote, remote } from '../../support/requests/remote.ts'
import type { Service } from '../../support/service.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const NEW_TRACE = /^[0-9a-f]{32}$/

onOneBackend('X-Request-Id and traceparent of a proxy', (start) => {
  let service: Service
  let target: Receiver
  let origin: Remote
  before(async () => {
    target = await receiver()
    origin = await remote((_, res) => res.end('text of another server'))
    service = await start({
      env: {
        TRUST_PROXY: '127.0.0.0/8',
        WEBHOOK_URL: target.url('/hooks'),
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        WEBHOOK_EVENTS: 'original.stored',
        FETCH_ALLOW_ADDRESSES: '127.0.0.1/32',
        FETCH_PORTS: String(origin.port),
      },
    })
  })
  after(() => Promise.all([target.close(), origin.close()]))

  /** The log line of the request that has ended with this ID. */
  async function lineOf(requestId: string | string[] | undefined, from = service) {
    let line: Readonly<Record<string, unknown>> | undefined
    await eventually(() => {
      line = from.log.lines.find(
        ({ fields, message }) => message === 'request' && fields.requestId === requestId,
      )?.fields
      expect(line).not.to.equal(undefined)
    })
    return line
  }

  it('name the response, the problem and the lines of the log', async () => {
    const id = 'Root=1-67891233-abcdef012345678912345678'
    const headers = { 'X-Request-Id': id, traceparent: TRACEPARENT }
    const answer = await exchange(service, '/nowhere', { headers })
    expect(answer.headers['x-request-id']).to.equal(id)
    expect(jsonOf(answer).instance).to.equal(id)
    expect(await lineOf(id)).to.include({ traceId: TRACE, status: 404 })
  })

  it('name a response of the hot cache', async () => {
    const { src } = await uploadOne(service, { name: 'a.txt', bytes: 'a' })
    for (let i = 0; i < 3; i += 1) {
      const headers = { 'X-Request-Id': `hot-${i}`, traceparent: TRACEPARENT }
      const answer = await exchange(service, new URL(src).pathname, { headers })
      expect(answer.headers['x-request-id']).to.equal(`hot-${i}`)
      expect(await lineOf(`hot-${i}`)).to.include({ traceId: TRACE })
    }
  })

  const invalidIds = ['', 'two words', 'one, two', '"quoted"', '<b>', 'é', 'x'.repeat(129)]
  for (const id of invalidIds)
    it(`replaces the invalid ID ${JSON.stringify(id.slice(0, 20))}`, async () => {
      const answer = await exchange(service, '/healthz', { headers: { 'X-Request-Id': id } })
      expect(answer.status).to.equal(200)
      expect(answer.headers['x-request-id']).to.match(UUID)
    })

  const invalidTraces = [
    '',
    TRACE,
    TRACEPARENT.toUpperCase(),
    `${TRACEPARENT}-more`,
    TRACEPARENT.replace('00-', 'ff-'),
    TRACEPARENT.replace(TRACE, '0'.repeat(32)),
    TRACEPARENT.replace('00f067aa0ba902b7', '0'.repeat(16)),
  ]
  for (const [i, traceparent] of invalidTraces.entries())
    it(`begins a new trace for the invalid traceparent "${traceparent}"`, async () => {
      const id = `invalid-trace-${i}`
      await exchange(service, '/healthz', { headers: { 'X-Request-Id': id, traceparent } })
      const line = await lineOf(id)
      expect(line?.traceId)
        .to.match(NEW_TRACE)
        .and.not.be.oneOf([TRACE, '0'.repeat(32)])
    })

  it('reads a traceparent of a later version as one of version 00', async () => {
    const headers = { 'X-Request-Id': 'later-version', traceparent: `01-${TRACE}-00f067aa0ba902b7-ff-more` }
    await exchange(service, '/healthz', { headers })
    expect(await lineOf('later-version')).to.include({ traceId: TRACE })
  })

  it('are recorded with the delivery of a webhook, which belongs to the trace', async () => {
    const headers = { 'X-Request-Id': 'upload-1', traceparent: TRACEPARENT, tracestate: 'vendor=1' }
    const form = [{ disposition: 'name="file"; filename="b.txt"', bytes: 'b' }]
    expect((await postForm(service, form, { headers })).status).to.equal(200)
    // The events of other tests may still be on their way.
    await eventually(() => {
      const delivery = target.received.find(({ body }) => String(body).includes('b.txt'))
      expect(delivery?.headers).to.include({ traceparent: TRACEPARENT, tracestate: 'vendor=1' })
    })
    const { body } = await ask(service, '/v1/webhooks/deliveries')
    const { deliveries } = body as { deliveries: { requestId?: string }[] }
    expect(deliveries.map(({ requestId }) => requestId)).to.include('upload-1')
  })

  it('reach the server of a file that is uploaded by URL', async () => {
    const headers = { traceparent: TRACEPARENT, tracestate: 'vendor=1' }
    const json = { url: origin.url('/c.txt') }
    expect((await ask(service, '/v1/upload/url', { method: 'POST', json, headers })).status).to.equal(200)
    expect(origin.requests.at(-1)?.headers).to.include(headers)
  })

  it('are ignored without TRUST_PROXY, and from other addresses than those in it', async () => {
    for (const env of [{}, { TRUST_PROXY: '10.0.0.0/8' }] as Record<string, string>[]) {
      const other = await start({ env })
      const headers = { 'X-Request-Id': 'mine', traceparent: TRACEPARENT }
      const id = (await exchange(other, '/healthz', { headers })).headers['x-request-id']
      expect(id).to.match(UUID)
      expect((await lineOf(id, other))?.traceId).to.equal(undefined)
    }
  })
})

describe('a line of the log that is written for a request', () => {
  it('has its ID and trace, also from code that does not know the request', () => {
    const lines: string[] = []
    const log = pino({ mixin: fieldsOfRequest }, { write: (line: string) => lines.push(line) })
    const trace = { traceparent: TRACEPARENT }
    inRequest({ requestId: 'one', trace }, () => log.info({ path: '/a' }, 'of a service'))
    inRequest({ requestId: 'one', trace }, () => log.info({ requestId: 'two' }, 'with another ID'))
    log.info({}, 'of no request')
    const [first, second, third] = lines.map((line) => JSON.parse(line))
    expect(first).to.include({ requestId: 'one', traceId: TRACE, path: '/a' })
    expect(second).to.include({ requestId: 'two' })
    expect(third).not.to.have.any.keys('requestId', 'traceId')
  })
})
