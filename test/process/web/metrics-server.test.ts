import { expect } from 'chai'
import { serveMetrics } from '../../../src/process/web/metrics-server.ts'
import { rejection } from '../../support/rejection.ts'

describe('the server of metrics', () => {
  let text: () => Promise<string>
  let server: Awaited<ReturnType<typeof serveMetrics>>
  const open = (port: number) => serveMetrics({ port, host: '127.0.0.1', read: () => text() })
  const at = (path: string, method = 'GET') => fetch(new URL(path, server.url), { method })
  beforeEach(async () => {
    text = async () => 'sluice_jobs 1\n'
    server = await open(0)
  })
  afterEach(() => server.close())

  it('serves the metrics and a health check, for GET and HEAD only', async () => {
    const metrics = await at('/metrics?at=once')
    expect(metrics.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/)
    expect(metrics.headers.get('cache-control')).to.equal('no-store')
    expect(await metrics.text()).to.equal('sluice_jobs 1\n')
    const health = await at('/healthz')
    expect([health.status, await health.text()]).to.deep.equal([200, 'ok\n'])
    for (const path of ['/metrics', '/healthz']) {
      expect((await at(path, 'HEAD')).status).to.equal(200)
      const refused = await at(path, 'POST')
      expect([refused.status, refused.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD'])
    }
    expect((await at('/')).status).to.equal(404)
  })

  it('answers 503 while metrics cannot be read, and is healthy all the same', async () => {
    text = () => Promise.reject(new Error('no answer'))
    expect((await at('/metrics')).status).to.equal(503)
    expect((await at('/healthz')).status).to.equal(200)
  })

  it('names the variables when its port is in use, and closes it at the end', async () => {
    const port = Number(new URL(server.url).port)
    const error = (await rejection(open(port))) as Error
    expect(error.message).to.match(
      /^METRICS_PORT \d+ on METRICS_HOST 127\.0\.0\.1 cannot be used: .*EADDRINUSE/,
    )
    await server.close()
    server = await open(port)
    expect((await at('/healthz')).status).to.equal(200)
  })
})
