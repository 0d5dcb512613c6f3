import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { metricsUrl, sampleOf } from '../../support/metrics.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type RunningServer, runToEnd, startProcess } from '../../support/servers/process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const HEALTH = { route: '/healthz', status: '200' }

const ask = (server: RunningServer) => exchange(server, '/healthz', { headers: { Connection: 'close' } })

// Those of several processes: processes.test.ts.
describe('metrics of a process', function () {
  this.timeout(60_000)
  let dataDir: string
  beforeEach(async () => {
    dataDir = await temporaryFolder()
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  it('are served on their own port, on the loopback interface only', async () => {
    const server = await startProcess({ env: { DATA_DIR: dataDir, METRICS_PORT: '0' } })
    try {
      await eventually(() => expect(metricsUrl(server)).to.match(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/))
      const url = metricsUrl(server)
      for (let i = 0; i < 3; i += 1) await ask(server)
      await eventually(async () => {
        const text = await (await fetch(url)).text()
        expect(sampleOf(text, 'sluice_http_requests_total', HEALTH)).to.equal(3)
      })
      expect((await fetch(url)).headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/)
      expect((await fetch(new URL('/', url))).status).to.equal(404)
      expect((await fetch(url, { method: 'POST' })).status).to.equal(405)
      expect((await exchange(server, '/metrics')).status).to.equal(404)
    } finally {
      server.child.kill('SIGTERM')
      await server.ended
    }
  })

  it('prevent the start when their port is in use, with an error', async () => {
    const other = createServer()
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
    const { port } = other.address() as { port: number }
    try {
      const env = { DATA_DIR: dataDir, PORT: '0', METRICS_PORT: String(port) }
      const { code, output } = await runToEnd(env)
      expect(code).to.equal(1)
      expect(output).to.match(
        new RegExp(`^sluice: METRICS_PORT ${port} on METRICS_HOST 127.0.0.1 cannot`, 'm'),
      )
    } finally {
      other.close()
    }
  })
})
