import { Readable } from 'node:stream'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { sampleOf } from '../../support/metrics.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Receiver, receiver } from '../../support/requests/receiver.ts'
import type { Service, ServiceOptions } from '../../support/service.ts'
import { breakable } from '../../support/stored/breakable.ts'
import { type Collector, otlpCollector, type ReceivedSpan } from '../../support/telemetry/otlp-collector.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`
const DELIVERY = '/v1/:group/upload/:token/*path'

/** A stream that fails in the middle. */
async function* brokenOff() {
  yield Buffer.alloc(100_000, 'a')
  throw new Error('EIO: i/o error')
}

onOneBackend('OpenTelemetry', (start) => {
  let collector: Collector
  beforeEach(async () => {
    collector = await otlpCollector()
  })
  afterEach(() => collector.close())

  const exporting = (env: ServiceOptions['env'] = {}, options: ServiceOptions = {}) =>
    start({ ...options, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env } })

  /** The log line of a request, which is written after its response. */
  async function lineOf(service: Service, requestId: unknown) {
    let fields: Readonly<Record<string, unknown>> = {}
    await eventually(() => {
      const line = service.log.lines.find(
        ({ fields, message }) => message === 'request' && fields.requestId === requestId,
      )
      fields = line?.fields ?? {}
      expect(line).not.to.equal(undefined)
    })
    return fields
  }

  /** The names of a span and of those above it, from the first one. */
  function pathOf(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string {
    const parent = spans.find(({ spanId }) => spanId === span.parentId)
    return parent ? `${pathOf(parent, spans)} > ${span.name}` : span.name
  }

  it('traces a request for a new derivative, down to the calls of index and bucket', async () => {
    const service = await exporting({ OTEL_SERVICE_NAME: 'pictures', OTEL_RESOURCE_ATTRIBUTES: 'team=a%20b' })
    const { src } = await uploadOne(service, {
      name: 'a.png',
      bytes: await picture({ width: 40, height: 30 }),
    })
    const response = await exchange(service, `${new URL(src).pathname}?w=20`)
    expect(response.status).to.equal(200)
    const { traceId } = await lineOf(service, response.headers['x-request-id'])
    await service.stop()
    const all = collector.spans()
    const spans = all.filter((span) => span.traceId === traceId)
    const paths = spans.map((span) => pathOf(span, spans))
    const request = `GET ${DELIVERY}`
    for (const path of [
      request,
      `${request} > plan`,
      `${request} > index find`,
      `${request} > derive`,
      `${request} > derive > turn`,
      `${request} > derive > render`,
      `${request} > derive > bucket put`,
      `${request} > derive > index finishDerivative`,
    ])
      expect(paths).to.include(path)
    // The first span is the only one without a parent.
    expect(paths.filter((path) => !path.startsWith(request))).to.deep.equal([])
    const first = spans.find(({ parentId }) => parentId === undefined)
    expect(first).to.deep.include({ name: request, kind: 2, status: 0 })
    expect(first?.attributes).to.deep.include({
      'http.request.method': 'GET',
      'http.route': DELIVERY,
      'http.response.status_code': 200,
      'url.path': new URL(src).pathname,
    })
    expect(first?.resource).to.include({ 'service.name': 'pictures', team: 'a b', 'sluice.role': 'web' })
    expect(spans.find(({ name }) => name === 'render')?.attributes).to.deep.include({
      'sluice.process': 'own',
      'sluice.plugins': ['image-orient', 'image-resize', 'image-format'],
    })
  })

  it('names the trace in the log and in a problem, and shows no secret', async () => {
    const service = await exporting()
    const secret = service.tokens.secretClientToken
    const response = await exchange(service, `/nowhere/${secret}/${'a'.repeat(2000)}?sig=abc`)
    const { traceId, instance } = jsonOf(response)
    expect(traceId).to.match(/^[\da-f]{32}$/)
    expect(await lineOf(service, instance)).to.include({ traceId })
    await service.stop()
    const span = collector.spans().find((each) => each.traceId === traceId)
    expect(span).to.deep.include({ name: 'GET', status: 0 })
    expect(span?.attributes).to.include({
      'http.response.status_code': 404,
      'sluice.problem': 'route_not_found',
    })
    expect(String(collector.received.map(({ body }) => body))).not.to.include(secret)
    expect(JSON.stringify(span)).not.to.include('sig=')
    // Callers must not fill the queue with long values.
    expect(span?.attributes['url.path']).to.have.length(1024)
  })

  it('continues the trace of a trusted proxy, also from the hot cache, and of no other caller', async () => {
    const trusting = await exporting({ TRUST_PROXY: '127.0.0.0/8' })
    const { src } = await uploadOne(trusting, { name: 'a.txt', bytes: 'a' })
    const headers = { traceparent: TRACEPARENT }
    for (let i = 0; i < 3; i += 1) await exchange(trusting, new URL(src).pathname, { headers })
    await exchange(trusting, new URL(src).pathname, { headers: { traceparent: 'x' } })
    await trusting.stop()
    const ofProxy = collector.spans().filter(({ parentId }) => parentId === SPAN)
    expect(ofProxy.map(({ name, traceId }) => [name, traceId])).to.deep.equal(
      Array(3).fill([`GET ${DELIVERY}`, TRACE]),
    )
    // An invalid header is as if it were absent.
    const own = collector.spans().filter(({ name, parentId }) => name === `GET ${DELIVERY}` && !parentId)
    expect(own).to.have.length(1)
    const other = await exporting()
    const { traceId } = jsonOf(await exchange(other, '/nowhere', { headers }))
    await other.stop()
    expect(traceId)
      .to.match(/^[\da-f]{32}$/)
      .and.not.equal(TRACE)
    expect(collector.spans().find((span) => span.traceId === traceId)?.parentId).to.equal(undefined)
  })

  it('records no span that the proxy or the sampler has not chosen, but names the trace', async () => {
    const service = await exporting({
      TRUST_PROXY: '127.0.0.0/8',
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    })
    const unsampled = { traceparent: TRACEPARENT.replace(/1$/, '0') }
    expect(jsonOf(await exchange(service, '/nowhere', { headers: unsampled })).traceId).to.equal(TRACE)
    expect(jsonOf(await exchange(service, '/nowhere')).traceId).to.match(/^[\da-f]{32}$/)
    await service.stop()
    expect(collector.spans()).to.deep.equal([])
  })

  it('marks a response that a failure has ended after its head', async () => {
    const source = breakable()
    const service = await exporting({ HOT_CACHE_BYTES: '0' }, { wrapStorage: source.wrapStorage })
    const { src } = await uploadOne(service, { name: 'a.bin', bytes: Buffer.alloc(1_000_000, 'a') })
    source.breaks(1_000_000, (_asset, bytes) => {
      bytes.destroy()
      return Readable.from(brokenOff(), { objectMode: false })
    })
    const failure = await exchange(service, new URL(src).pathname).catch((error) => error)
    expect(failure).to.be.instanceOf(Error)
    await service.stop()
    const span = collector.spans().find(({ name }) => name === `GET ${DELIVERY}`)
    expect(span).to.include({ status: 2 })
    expect(span?.attributes).to.include({
      'http.response.status_code': 200,
      'sluice.complete': false,
      'error.type': span?.attributes['sluice.problem'],
    })
  })

  describe('of a webhook', () => {
    let target: Receiver
    before(async () => {
      target = await receiver()
    })
    after(() => target.close())

    it('has the attempt in the trace of the request, and a job with a link to it', async () => {
      const service = await exporting({
        WEBHOOK_URL: target.url('/hooks/secret-path'),
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        WEBHOOK_EVENTS: 'original.stored',
        // The job is recorded because the request is.
        TRUST_PROXY: '127.0.0.0/8',
        OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      })
      const form = new FormData()
      form.append('file', new Blob(['a']), 'a.txt')
      const headers = { Authorization: service.tokens.secretClientToken, traceparent: TRACEPARENT }
      await fetch(`${service.url}/v1/upload`, { method: 'POST', headers, body: form })
      await eventually(() => expect(target.received).to.have.length(1))
      await eventually(async () => {
        const { body } = await ask(service, '/v1/webhooks/deliveries')
        expect(JSON.stringify(body)).to.include('"delivered"')
      })
      await service.stop()
      const spans = collector.spans()
      const request = spans.find(({ name }) => name.startsWith('POST /v1/upload'))
      const attempt = spans.find(({ name }) => name === 'POST webhook')
      expect(attempt).to.deep.include({ traceId: request?.traceId, kind: 3 })
      expect(attempt?.attributes).to.include({
        'http.response.status_code': 204,
        'server.address': '127.0.0.1',
      })
      expect(JSON.stringify(spans)).not.to.include('secret-path')
      expect(target.received[0]?.headers.traceparent).to.equal(`00-${attempt?.traceId}-${attempt?.spanId}-01`)
      const job = spans.find(({ name, kind }) => kind === 5 && name.includes('webhook'))
      expect(job?.links.map(({ traceId }) => traceId)).to.deep.equal([request?.traceId])
      expect(job?.traceId).not.to.equal(request?.traceId)
    })
  })

  it('exports the metrics of GET /metrics, with the same names, labels and values', async () => {
    const METRICS_TOKEN = 'metrics_0123456789'
    const service = await exporting({ METRICS_TOKEN, OTEL_TRACES_EXPORTER: 'none' })
    const { src } = await uploadOne(service, {
      name: 'a.png',
      bytes: await picture({ width: 40, height: 30 }),
    })
    for (const query of ['w=20', 'w=20', 'w=x']) await exchange(service, `${new URL(src).pathname}?${query}`)
    const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
    let text = ''
    const route = { route: DELIVERY, method: 'GET' }
    await eventually(async () => {
      text = String((await exchange(service, '/metrics', { headers })).body)
      expect(sampleOf(text, 'sluice_http_request_duration_seconds_count', route)).to.equal(3)
    })
    await service.stop()
    expect(collector.spans()).to.deep.equal([])
    const metrics = collector.metrics()
    const names = text.split('\n').flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
    const exported = metrics.map(({ name }) => name)
    // Metrics without a value yet have a type in the text only.
    const withValues = names.filter((name) => new RegExp(`^${name}(_count)?[{ ]`, 'm').test(text))
    expect(exported).to.include.members(withValues)
    const requests = metrics.find(({ name }) => name === 'sluice_http_requests_total')
    expect(requests?.isCounter).to.equal(true)
    const ofDelivery = requests?.points.filter(({ labels }) => labels.route === DELIVERY)
    expect(ofDelivery?.map(({ labels, value }) => [labels, value])).to.have.deep.members([
      [{ ...route, status: '200' }, 2],
      [{ ...route, status: '400' }, 1],
    ])
    const seconds = metrics
      .find(({ name }) => name === 'sluice_http_request_duration_seconds')
      ?.points.find(({ labels }) => labels.route === DELIVERY)
    expect(seconds?.count).to.equal(3)
    expect(seconds?.value).to.equal(sampleOf(text, 'sluice_http_request_duration_seconds_sum', route))
    const cumulative = seconds?.bounds?.map((bound, i) => [
      String(bound),
      seconds.counts?.slice(0, i + 1).reduce((sum, each) => sum + each, 0),
    ])
    const buckets = [
      ...text.matchAll(/^sluice_http_request_duration_seconds_bucket\{le="([^"]+)",(.*)\} (\d+)$/gm),
    ]
    expect(cumulative).to.deep.equal(
      buckets
        .filter(([, le, labels]) => le !== '+Inf' && labels === `route="${DELIVERY}",method="GET"`)
        .map(([, le, , value]) => [le, Number(value)]),
    )
  })

  it('does not hold up requests when the collector is away, and warns once', async () => {
    await collector.close()
    const service = await exporting({ OTEL_METRIC_EXPORT_INTERVAL: '1000' })
    const warnings = () => service.log.lines.filter(({ message }) => message.startsWith('OpenTelemetry'))
    expect((await exchange(service, '/healthz')).status).to.equal(200)
    expect((await exchange(service, '/nowhere')).status).to.equal(404)
    await eventually(() => expect(warnings()).to.have.length(1))
    await service.stop()
    expect(warnings().map(({ level }) => level)).to.deep.equal(['warn'])
  })
})
