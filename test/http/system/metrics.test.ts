import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { sampleOf } from '../../support/metrics.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'
import { exchange, sendBytes } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'

const METRICS_TOKEN = 'sixteen-letters-or-more'
const DELIVERY = '/v1/:group/upload/:token/*path'

/** What an operator reads. */
async function scrape(service: Service): Promise<string> {
  const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
  const { status, body } = await exchange(service, '/metrics', { headers })
  expect(status).to.equal(200)
  return String(body)
}

onOneBackend('GET /metrics', (start) => {
  let service: Service
  beforeEach(async () => {
    service = await start({ env: { METRICS_TOKEN } })
  })
  afterEach(() => service.stop())

  it('counts requests by route, method and status, with seconds and bytes', async () => {
    const { src } = await uploadOne(service, { name: 'a.bin', bytes: Buffer.alloc(50_000) })
    const path = new URL(src).pathname
    for (let i = 0; i < 3; i += 1) await exchange(service, path)
    await exchange(service, `${path}x`)
    await exchange(service, '/nowhere')
    const delivery = { route: DELIVERY, method: 'GET' }
    await eventually(async () => {
      const text = await scrape(service)
      const requests = (labels: Record<string, string>) =>
        sampleOf(text, 'sluice_http_requests_total', labels)
      expect(requests({ ...delivery, status: '200' })).to.equal(3)
      expect(requests({ ...delivery, status: '404' })).to.equal(1)
      expect(requests({ route: '/v1/upload', method: 'POST', status: '200' })).to.equal(1)
      expect(requests({ route: 'none', status: '404' })).to.equal(1)
      const problems = (code: string) => sampleOf(text, 'sluice_http_problems_total', { code, status: '404' })
      expect([problems('file_not_found'), problems('route_not_found')]).to.deep.equal([1, 1])
      expect(sampleOf(text, 'sluice_http_request_duration_seconds_count', delivery)).to.equal(4)
      expect(sampleOf(text, 'sluice_http_request_duration_seconds_sum', delivery)).to.be.within(0.0001, 10)
      const bytes = (direction: string, route: string) =>
        sampleOf(text, 'sluice_http_bytes_total', { direction, route })
      expect(bytes('sent', DELIVERY)).to.be.within(150_000, 160_000)
      expect(bytes('received', '/v1/upload')).to.be.within(50_000, 52_000)
    })
  })

  it('counts unreadable requests once, by the status of their response', async () => {
    const upload =
      `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
      'Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const malformed = [
      'nonsense\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'CONNECT a:80 HTTP/1.1\r\nHost: x\r\n\r\n',
    ]
    const tooLong = `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(100_000)}\r\n\r\n`
    for (const bytes of [...malformed, tooLong, `${upload}zz\r\n`]) await sendBytes(service, bytes)
    await eventually(async () => {
      const text = await scrape(service)
      const requests = (labels: Record<string, string>) =>
        sampleOf(text, 'sluice_http_requests_total', labels)
      expect(requests({ route: 'none', method: 'none', status: '400' })).to.equal(2)
      expect(requests({ route: 'none', method: 'none', status: '431' })).to.equal(1)
      expect(requests({ route: 'none', method: 'CONNECT', status: '400' })).to.equal(1)
      expect(requests({ route: 'none' })).to.equal(4)
      // Its headers were a request, which has ended without an answer of its own.
      expect(requests({ route: '/v1/upload', status: 'aborted' })).to.equal(1)
      const bytes = (direction: string) =>
        sampleOf(text, 'sluice_http_bytes_total', { direction, route: 'none' })
      expect(bytes('received')).to.be.above(16_384)
      expect(bytes('sent')).to.be.within(4 * 300, 4 * 1000)
    })
  })

  it('counts stored and rendered derivatives, and the time of each render', async () => {
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const path = `${new URL(src).pathname}?w=10`
    await exchange(service, path)
    // Answered before it is stored.
    await eventually(async () => {
      await exchange(service, path)
      expect(sampleOf(await scrape(service), 'sluice_derivative_lookups_total', { found: 'hit' })).to.equal(1)
    })
    const text = await scrape(service)
    expect(sampleOf(text, 'sluice_derivative_lookups_total', { found: 'miss' })).to.be.at.least(1)
    expect(
      sampleOf(text, 'sluice_transform_duration_seconds_count', { outcome: 'done', format: 'png' }),
    ).to.equal(1)
    expect(sampleOf(text, 'sluice_transform_duration_seconds_count')).to.equal(1)
    expect(sampleOf(text, 'sluice_transform_duration_seconds_sum')).to.be.within(0.0001, 10)
  })

  it('returns the latency of bucket and index by operation', async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await exchange(service, new URL(record.src).pathname)
    expect((await deleteFile(service, record.s3Path)).status).to.equal(200)
    const text = await scrape(service)
    const calls = (store: string, operation: string) =>
      sampleOf(text, 'sluice_storage_duration_seconds_count', { store, operation, outcome: 'ok' })
    for (const operation of ['put', 'find', 'open', 'delete'])
      expect(calls('bucket', operation), operation).to.be.at.least(1)
    for (const operation of ['beginUpload', 'finishUpload', 'beginRemoval', 'finishRemoval'])
      expect(calls('index', operation), operation).to.equal(1)
    expect(calls('index', 'find')).to.be.at.least(1)
    expect(sampleOf(text, 'sluice_storage_duration_seconds_count', { outcome: 'error' })).to.equal(0)
  })
})

describe('GET /metrics of a new service', () => {
  let service: Service
  afterEach(() => service.stop())

  it('distinguishes failed storage operations', async () => {
    service = await startService({
      env: { METRICS_TOKEN },
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: { ...index, ping: () => Promise.reject(new Error('away')) },
      }),
    })
    await exchange(service, '/readyz')
    const text = await scrape(service)
    const pings = { store: 'index', operation: 'ping' }
    // Of `/readyz`. Each scrape adds one of its own.
    expect(
      sampleOf(text, 'sluice_storage_duration_seconds_count', { ...pings, outcome: 'error' }),
    ).to.be.at.least(1)
    expect(sampleOf(text, 'sluice_up', { store: 'index' })).to.equal(0)
    expect(sampleOf(text, 'sluice_up', { store: 'bucket' })).to.equal(1)
    expect(text).to.match(/^sluice_build_info\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+"\} 1$/m)
    expect(sampleOf(text, 'sluice_storage_duration_seconds_count', { ...pings, outcome: 'ok' })).to.equal(0)
  })

  it('counts the attempts and calls of webhooks that wait for a receiver', async () => {
    service = await startService({
      env: {
        METRICS_TOKEN,
        WEBHOOK_URL: 'http://127.0.0.1:9/',
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
      },
    })
    await uploadOne(service, { name: 'a.bin', bytes: Buffer.alloc(10) })
    await eventually(async () => {
      const text = await scrape(service)
      const waiting = sampleOf(text, 'sluice_jobs_waiting', { kind: 'event-webhook' })
      expect(waiting).to.be.at.least(1)
      const retried = sampleOf(text, 'sluice_webhook_attempt_duration_seconds_count', { outcome: 'retried' })
      expect(retried).to.be.at.least(1)
    })
  })

  it('distinguishes refused transformations from completed ones', async () => {
    service = await startService({ env: { METRICS_TOKEN } })
    const png = await picture()
    const { src } = await uploadOne(service, { name: 'a.png', bytes: png.subarray(0, 60) })
    expect((await exchange(service, `${new URL(src).pathname}?w=10`)).status).to.equal(422)
    const text = await scrape(service)
    expect(sampleOf(text, 'sluice_transform_duration_seconds_count', { outcome: 'refused' })).to.equal(1)
    expect(sampleOf(text, 'sluice_transform_duration_seconds_count')).to.equal(1)
  })

  it('returns which parts of the index are complete, and nothing for those of an index that does not respond', async () => {
    let isAway = false
    service = await startService({
      env: { METRICS_TOKEN },
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: {
          ...index,
          isCounted: async () => (isAway ? Promise.reject(new Error('away')) : false),
        },
      }),
    })
    const ready = (text: string) => text.match(/^sluice_index_(?:ready|moves|differences).*$/gm)
    const others = [
      'sluice_index_differences_total{outcome="added"} 0',
      'sluice_index_differences_total{outcome="removed"} 0',
      'sluice_index_differences_total{outcome="failed"} 0',
    ]
    const present = [
      ...others,
      'sluice_index_ready{part="lists"} 1',
      'sluice_index_ready{part="counters"} 0',
      'sluice_index_ready{part="search"} 1',
      'sluice_index_moves 0',
    ]
    // The comparison with the empty bucket ends soon after the start.
    await eventually(async () => expect(ready(await scrape(service))).to.deep.equal(present))
    isAway = true
    expect(ready(await scrape(service))).to.deep.equal([...others, 'sluice_index_moves 0'])
  })

  it('returns the lag of the event loop, memory, and the queue of transformations', async () => {
    service = await startService({ env: { METRICS_TOKEN } })
    const text = await scrape(service)
    expect(text).to.match(/^nodejs_eventloop_lag_p99_seconds \d/m)
    expect(sampleOf(text, 'process_resident_memory_bytes')).to.be.above(10_000_000)
    expect(text)
      .to.match(/^sluice_transforms_running 0$/m)
      .and.match(/^sluice_transforms_waiting 0$/m)
  })

  it('requires the token, and contains no secret', async () => {
    service = await startService({ env: { METRICS_TOKEN } })
    const { secretClientToken, clientToken } = service.tokens
    await uploadOne(service, { name: 'a.txt', bytes: Buffer.from('text') })
    for (const authorization of [
      '',
      METRICS_TOKEN,
      `Bearer ${METRICS_TOKEN}x`,
      `Bearer ${secretClientToken}`,
    ]) {
      const headers = authorization === '' ? {} : { Authorization: authorization }
      const answer = await exchange(service, '/metrics', { headers })
      expect(answer.status, authorization).to.equal(401)
      expect(answer.headers['content-type']).to.equal('application/problem+json')
      expect(String(answer.body)).not.to.include('sluice_http')
    }
    const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
    const answer = await exchange(service, '/metrics', { headers })
    expect(answer.headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.headers['cache-control']).to.equal('no-store')
    for (const token of [METRICS_TOKEN, secretClientToken, clientToken])
      expect(String(answer.body)).not.to.include(token)
    expect((await exchange(service, '/metrics', { method: 'POST', headers })).status).to.equal(405)
  })

  it('responds 404 without METRICS_TOKEN', async () => {
    service = await startService({ env: { METRICS_PORT: '0' } })
    expect((await exchange(service, '/metrics')).status).to.equal(404)
  })
})
