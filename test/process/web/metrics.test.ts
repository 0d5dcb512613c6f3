import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { sampleOf } from '../../support/metrics.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import { type RunningServer, runToEnd, startProcess } from '../../support/servers/process.ts'
import { childrenOf } from '../../support/servers/processes.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const METRICS_TOKEN = 'sixteen-letters-or-more'
const HEALTH = { route: '/healthz', status: '200' }

/** Where a process says that its metrics are. */
function metricsUrl({ output }: RunningServer): string {
  const url = /"url":"(http:[^"]*\/metrics)"/.exec(output())?.[1]
  if (url === undefined) throw new Error(`no address of metrics in:\n${output()}`)
  return url
}

const ask = (server: RunningServer) => exchange(server, '/healthz', { headers: { Connection: 'close' } })

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

describe('metrics of several processes', function () {
  this.timeout(60_000)
  let fleet: Fleet
  beforeEach(async () => {
    const env = { WEB_CONCURRENCY: '2', LOG_LEVEL: 'info', METRICS_PORT: '0', METRICS_TOKEN }
    fleet = await newFleet({ files: 'disk', env })
  })
  afterEach(() => fleet.end())

  it('are summed, on their own port and on the common one, also when a process was replaced', async () => {
    const server = await fleet.start()
    const own = async () => (await fetch(metricsUrl(server))).text()
    const common = async () => {
      const headers = { Authorization: `Bearer ${METRICS_TOKEN}`, Connection: 'close' }
      return String((await exchange(server, '/metrics', { headers })).body)
    }
    for (let i = 0; i < 10; i += 1) await ask(server)
    for (const read of [own, common])
      await eventually(async () => {
        const text = await read()
        expect(sampleOf(text, 'sluice_http_requests_total', HEALTH)).to.equal(10)
        // Each has one: what the operator reads is of both.
        expect(sampleOf(text, 'process_resident_memory_bytes')).to.be.above(100_000_000)
      })

    const [killed = 0] = await childrenOf(server.pid)
    process.kill(killed, 'SIGKILL')
    await eventually(
      async () =>
        expect(await childrenOf(server.pid))
          .to.have.length(2)
          .and.not.include(killed),
      { withinMs: 10_000 },
    )
    expect(sampleOf(await own(), 'sluice_http_requests_total', HEALTH)).to.be.at.most(10)
    await eventually(
      async () => expect(sampleOf(await own(), 'process_resident_memory_bytes')).to.be.above(100_000_000),
      { withinMs: 10_000 },
    )
  })
})
