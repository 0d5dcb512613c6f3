import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually, LONG_MS } from '../support/eventually.ts'
import { video } from '../support/media/videos.ts'
import { uploadOne } from '../support/requests/client.ts'
import { receiver } from '../support/requests/receiver.ts'
import { type Fleet, newFleet } from '../support/servers/fleet.ts'
import { startProcess } from '../support/servers/process.ts'
import { PROJECT } from '../support/service.ts'
import { itLong } from '../support/sized.ts'
import { type Collector, otlpCollector } from '../support/telemetry/otlp-collector.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const WORKER = [join(PROJECT, 'dist', 'src', 'worker.js')]

describe('OpenTelemetry of built processes', function () {
  this.timeout(120_000)
  let fleet: Fleet
  let collector: Collector
  before(async () => {
    collector = await otlpCollector()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '200' }
    fleet = await newFleet({ files: 'disk', env })
  })
  after(async () => {
    await fleet.end()
    await collector.close()
  })

  it('links the job in a worker to the request that has begun it', async () => {
    const web = await fleet.service()
    const worker = fleet.run({ script: WORKER })
    const { src } = await uploadOne(web, { name: 'film.mp4', bytes: await video() })
    await eventually(async () => expect((await fetch(`${src}?w=32&wait=10`)).status).to.equal(200), {
      withinMs: LONG_MS,
    })
    const jobs = () => collector.spans().filter(({ name }) => name === 'process media')
    await eventually(() => expect(jobs()).to.have.length(1))
    worker.child.kill('SIGTERM')
    expect(await worker.ended, worker.output()).to.equal(0)
    const [job] = jobs()
    expect(job).to.deep.include({ kind: 5, parentId: undefined })
    expect(job?.resource).to.include({ 'sluice.role': 'worker', 'service.name': 'sluice' })
    const [link] = job?.links ?? []
    const ofRequest = () =>
      collector.spans().find(({ traceId, kind }) => traceId === link?.traceId && kind === 2)
    await eventually(() => expect(ofRequest()).to.not.equal(undefined))
    const request = ofRequest()
    const spans = collector.spans()
    expect(request?.name).to.equal('GET /v1/:group/upload/:token/*path')
    expect(request?.resource).to.include({ 'sluice.role': 'web' })
    const inJob = spans.filter(({ traceId }) => traceId === job?.traceId).map(({ name }) => name)
    expect(inJob).to.include.members(['process media', 'derive', 'render', 'bucket put'])
    // The lines that the worker writes for the job have its trace.
    const line = worker
      .output()
      .split('\n')
      .find((each) => each.includes('"msg":"job ended"'))
    expect(line).to.include(`"traceId":"${job?.traceId}"`)
    // The worker has sent its metrics when it stopped.
    const roles = collector
      .metrics()
      .filter(({ name }) => name === 'sluice_job_duration_seconds')
      .map(({ resource }) => resource['sluice.role'])
    expect(roles).to.include('worker')
  })

  it('ends a web process in time with a job that does not end and a collector that does not respond', async () => {
    const silent = await otlpCollector(0)
    const target = await receiver(0)
    const folder = await temporaryFolder()
    try {
      const server = await startProcess({
        env: {
          DATA_DIR: folder,
          OTEL_EXPORTER_OTLP_ENDPOINT: silent.url,
          WEBHOOK_URL: target.url('/'),
          WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
          WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        },
      })
      await uploadOne(server, { name: 'a.txt', bytes: 'a' })
      await eventually(() => expect(target.received).to.have.length(1))
      server.child.kill('SIGTERM')
      expect(await server.ended, server.output()).to.equal(0)
    } finally {
      await silent.close()
      await target.close()
      await rm(folder, { recursive: true })
    }
  })

  // In `npm test`, modules.test.ts reads the built files.
  describe('its packages', () => {
    let folder: string
    beforeEach(async () => {
      folder = await temporaryFolder()
    })
    afterEach(() => rm(folder, { recursive: true }))

    /** The chunks that a process has loaded from its start to its end, as Node notes them for coverage. */
    async function loadedChunks(env: Readonly<Record<string, string>>): Promise<string[]> {
      const scripts = join(folder, 'scripts')
      const server = await startProcess({ env: { DATA_DIR: folder, NODE_V8_COVERAGE: scripts, ...env } })
      expect((await fetch(`${server.url}/nowhere`)).status).to.equal(404)
      server.child.kill('SIGTERM')
      expect(await server.ended, server.output()).to.equal(0)
      const notes = await Promise.all(
        (await readdir(scripts)).map((file) => readFile(join(scripts, file), 'utf8')),
      )
      return [...new Set(notes.flatMap((note) => note.match(/chunks\/otel-\w+\.js/g) ?? []))]
    }

    itLong('are not loaded without a variable, or when it is disabled', async () => {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' }
      for (const each of [{}, env]) expect(await loadedChunks(each)).to.deep.equal([])
    })

    itLong('are loaded with one', async () => {
      expect(await loadedChunks({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).to.have.length(1)
    })
  })
})
