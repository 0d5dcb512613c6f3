import cluster, { type Worker } from 'node:cluster'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect } from 'chai'
import { aggregateMetrics, lastingMetrics } from '../../../src/adapters/metrics/aggregate.ts'
import { prometheusMetrics } from '../../../src/adapters/metrics/prometheus.ts'
import { gatherMetrics } from '../../../src/process/web/cluster-metrics.ts'
import { sampleOf } from '../../support/metrics.ts'
import { runToEnd } from '../../support/servers/process.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// On their own port: boot.test.ts.
describe('metrics of a process', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = await temporaryFolder()
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  itLong('prevent the start when their port is in use, with an error', async () => {
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

describe('metrics of several processes', () => {
  const GAUGE = 'sluice_transforms_running'
  const COUNTER = 'sluice_hot_responses_total'
  const HISTOGRAM = 'sluice_webhook_attempt_duration_seconds_count'
  const listeners = { exit: cluster.listeners('exit'), message: cluster.listeners('message') }
  let read: () => Promise<string>
  beforeEach(() => {
    read = gatherMetrics({ aggregate: aggregateMetrics, lasting: lastingMetrics })
  })
  afterEach(() => {
    for (const name of ['exit', 'message'] as const)
      for (const listener of cluster.listeners(name))
        if (!listeners[name].includes(listener)) cluster.off(name, listener as () => void)
  })

  /** A ready process with one of each kind of metric. */
  function newWorker({ lag = 0, start = 0 } = {}) {
    const metrics = prometheusMetrics({ version: '1.0.0' })
    metrics.watchTransforms(() => ({ running: 1, waiting: 0, maxWaiting: 256 }))
    metrics.answeredHot()
    metrics.webhookAttempted({ outcome: 'delivered', seconds: 1 })
    const values: Record<string, number> = {
      nodejs_eventloop_lag_p99_seconds: lag,
      process_start_time_seconds: start,
    }
    const worker = {
      responds: true,
      isDead: () => false,
      async send({ metricsOf }: { metricsOf: number }, failed: (error: Error) => void) {
        if (!worker.responds) return failed(new Error('no response'))
        const parts = (await metrics.parts()) as { name: string; values: { value: number }[] }[]
        for (const {
          name,
          values: [first],
        } of parts)
          if (first !== undefined && name in values) first.value = values[name] ?? 0
        cluster.emit('message', worker as unknown as Worker, { metricsOf, parts }, undefined)
      },
      end() {
        worker.responds = false
        worker.isDead = () => true
        cluster.emit('exit', worker as unknown as Worker, 1, '')
      },
    }
    cluster.emit('message', worker as unknown as Worker, {}, undefined)
    return worker
  }
  async function sums(): Promise<number[]> {
    const text = await read()
    const delivered = sampleOf(text, HISTOGRAM, { outcome: 'delivered' })
    return [sampleOf(text, COUNTER), delivered, sampleOf(text, GAUGE)]
  }

  it('include the counters of processes that have ended, or do not respond, but not their gauges', async () => {
    const [first, second] = [newWorker(), newWorker()]
    expect(await sums()).to.deep.equal([2, 2, 2])
    first.end()
    expect(await sums()).to.deep.equal([2, 2, 1])
    newWorker()
    expect(await sums()).to.deep.equal([3, 3, 2])
    second.responds = false
    expect(await sums()).to.deep.equal([3, 3, 1])
    second.end()
    expect(await sums()).to.deep.equal([3, 3, 1])
  })

  it('have the start of the newest one, also after its end, and the lag of the slowest one', async () => {
    newWorker({ lag: 2, start: 100 })
    const newest = newWorker({ lag: 0.01, start: 200 })
    const shown = async () => {
      const text = await read()
      return [
        sampleOf(text, 'process_start_time_seconds'),
        sampleOf(text, 'nodejs_eventloop_lag_p99_seconds'),
      ]
    }
    expect(await shown()).to.deep.equal([200, 2])
    newest.end()
    expect(await shown()).to.deep.equal([200, 2])
  })

  it('have all names that an alert or a panel of the dashboard has', async () => {
    newWorker()
    const sources = ['deploy/prometheus/alerts.yaml', 'deploy/grafana/dashboard.json'].map((path) =>
      readFileSync(path, 'utf8'),
    )
    const used = new Set(sources.join().match(/\b(?:nodejs|process)_\w+/g))
    const text = await read()
    expect(used.size).to.be.above(3)
    for (const name of used) expect(text).to.include(`# TYPE ${name} `)
  })
})
