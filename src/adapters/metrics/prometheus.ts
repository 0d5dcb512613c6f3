import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type Metrics, type MetricsReader, WEBHOOK_OUTCOMES } from '../../core/ports/metrics.ts'

// From a health check to a large upload. A slow transformation ends at 30 s.
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const TRANSFORM_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
// A receiver has 10 s to respond.
const WEBHOOK_SECONDS = [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const JOB_SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]
// An embedded index responds within 0.1 ms. S3 times out after 5 s.
const STORAGE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

// deploy/prometheus/alerts.yaml has alerts for single ones.
const ALERTED_PROBLEMS = [
  ['file_damaged', 500],
  ['storage_full', 503],
] as const

// Of several processes, the newest start and the most blocked event loop. prom-client omits the first, and averages the second.
const HIGHEST = ['process_start_time_seconds', 'nodejs_eventloop_lag_p99_seconds']

/**
 * Metrics for Prometheus, in a registry of their own. Includes prom-client's metrics of the process and its event loop.
 *
 * @param options.version that of Sluice
 */
export function prometheusMetrics({ version }: { version: string }): Metrics & MetricsReader {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of HIGHEST) Object.assign(registry.getSingleMetric(name) ?? {}, { aggregator: 'max' })
  const registers = [registry]
  new Gauge({
    name: 'sluice_build_info',
    help: 'The versions of Sluice and Node; always 1',
    labelNames: ['version', 'node'],
    aggregator: 'first',
    registers,
  }).set({ version, node: process.versions.node }, 1)
  const requests = new Counter({
    name: 'sluice_http_requests_total',
    help: 'Completed requests',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const requestSeconds = new Histogram({
    name: 'sluice_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response',
    labelNames: ['route', 'method'],
    buckets: REQUEST_SECONDS,
    registers,
  })
  const requestBytes = new Counter({
    name: 'sluice_http_bytes_total',
    help: 'Bytes of requests and responses, including headers',
    labelNames: ['route', 'direction'],
    registers,
  })
  const problems = new Counter({
    name: 'sluice_http_problems_total',
    help: 'Responses with a problem, by its code',
    labelNames: ['code', 'status'],
    registers,
  })
  const derivatives = new Counter({
    name: 'sluice_derivative_lookups_total',
    help: 'Requested derivatives: already stored (hit) or not (miss)',
    labelNames: ['found'],
    registers,
  })
  const savedBytes = new Counter({
    name: 'sluice_recompression_saved_bytes_total',
    help: 'Bytes that smaller images have saved, which are delivered instead of others',
    registers,
  })
  const hotResponses = new Counter({
    name: 'sluice_hot_responses_total',
    help: 'Responses from the hot cache in memory',
    registers,
  })
  const transformSeconds = new Histogram({
    name: 'sluice_transform_duration_seconds',
    help: 'Time of transformations, without their wait in the queue',
    labelNames: ['format', 'outcome'],
    buckets: TRANSFORM_SECONDS,
    registers,
  })
  const storageSeconds = new Histogram({
    name: 'sluice_storage_duration_seconds',
    help: 'Time of calls to the bucket and the index',
    labelNames: ['store', 'operation', 'outcome'],
    buckets: STORAGE_SECONDS,
    registers,
  })
  const jobSeconds = new Histogram({
    name: 'sluice_job_duration_seconds',
    help: 'Time of job attempts, without their wait in the queue',
    labelNames: ['kind', 'outcome'],
    buckets: JOB_SECONDS,
    registers,
  })
  const webhookSeconds = new Histogram({
    name: 'sluice_webhook_attempt_duration_seconds',
    help: 'Time of attempts to deliver an event to a receiver',
    labelNames: ['outcome'],
    buckets: WEBHOOK_SECONDS,
    registers,
  })
  const scans = new Counter({
    name: 'sluice_scans_total',
    help: 'Completed malware scans',
    labelNames: ['result'],
    registers,
  })
  // Prometheus sees an increase from 0 to 1. A series that begins with 1 has none, so no alert would fire.
  for (const found of ['hit', 'miss']) derivatives.inc({ found }, 0)
  for (const result of ['clean', 'infected']) scans.inc({ result }, 0)
  for (const outcome of WEBHOOK_OUTCOMES) webhookSeconds.zero({ outcome })
  transformSeconds.zero({ format: 'none', outcome: 'failed' })
  for (const [code, status] of ALERTED_PROBLEMS) problems.inc({ code, status }, 0)
  return {
    requestEnded({ route = 'none', method, status, code, seconds, bytes, receivedBytes }) {
      requests.inc({ route, method, status })
      if (code !== undefined) problems.inc({ code, status })
      requestSeconds.observe({ route, method }, seconds)
      requestBytes.inc({ route, direction: 'sent' }, bytes)
      requestBytes.inc({ route, direction: 'received' }, receivedBytes)
    },
    derivativeLookedUp: (found) => derivatives.inc({ found }),
    savedByRecompression: (bytes) => savedBytes.inc(bytes),
    answeredHot: () => hotResponses.inc(),
    transformed: ({ outcome, format = 'none', seconds }) =>
      transformSeconds.observe({ format, outcome }, seconds),
    watchTransforms(load) {
      const gauge = (name: string, help: string, of: 'running' | 'waiting' | 'maxWaiting') =>
        new Gauge({
          name: `sluice_transforms_${name}`,
          help,
          registers,
          collect() {
            this.set(load()[of])
          },
        })
      gauge('running', 'Transformations that are running now', 'running')
      gauge('waiting', 'Transformations that are waiting now', 'waiting')
      gauge('waiting_limit', 'How many transformations may wait', 'maxWaiting')
    },
    watchComparison({ state, differences }) {
      const gauge = (name: string, help: string, value: () => number | undefined) =>
        // The other processes see the comparison of one.
        new Gauge({
          name,
          help,
          aggregator: 'max',
          registers,
          collect() {
            const current = value()
            if (current === undefined) this.remove()
            else this.set(current)
          },
        })
      gauge('sluice_index_comparing', 'Whether the index is compared with all files: 1 or 0', () =>
        state() ? 1 : 0,
      )
      gauge(
        'sluice_index_compared_files',
        'Files that the running comparison has compared',
        () => state()?.files ?? 0,
      )
      gauge(
        'sluice_index_files',
        'About how many files the running comparison compares in all. Absent when that is unknown',
        () => state()?.total,
      )
      new Counter({
        name: 'sluice_index_differences_total',
        help: 'Files in which index and buckets differed: added to the index, removed from it, or neither (failed)',
        labelNames: ['outcome'],
        registers,
        collect() {
          this.reset()
          for (const [outcome, files] of Object.entries(differences())) this.inc({ outcome }, files)
        },
      })
    },
    watchIndex({ ready, moves }) {
      new Gauge({
        name: 'sluice_index_ready',
        help: 'Whether the lists, the counters and the search of the index have all files: 1 or 0',
        labelNames: ['part'],
        aggregator: 'min',
        registers,
        async collect() {
          const parts = Object.entries(await ready().catch(() => ({})))
          this.reset()
          for (const [part, isReady] of parts) this.set({ part }, isReady ? 1 : 0)
        },
      })
      new Gauge({
        name: 'sluice_index_moves',
        help: 'Clients whose files move to other partitions of the index, or whose move was interrupted',
        aggregator: 'max',
        registers,
        async collect() {
          const count = await moves().catch(() => undefined)
          if (count === undefined) this.remove()
          else this.set(count)
        },
      })
    },
    watchStores(check) {
      new Gauge({
        name: 'sluice_up',
        help: 'Whether the store responds: 1 or 0',
        labelNames: ['store'],
        aggregator: 'min',
        registers,
        async collect() {
          for (const [store, responds] of Object.entries(await check())) this.set({ store }, responds ? 1 : 0)
        },
      })
    },
    webhookAttempted: ({ outcome, seconds }) => webhookSeconds.observe({ outcome }, seconds),
    jobEnded: ({ kind, outcome, seconds }) => jobSeconds.observe({ kind, outcome }, seconds),
    scanned: (result) => scans.inc({ result }),
    watchJobs(load) {
      for (const name of ['running', 'waiting'] as const)
        new Gauge({
          name: `sluice_jobs_${name}`,
          help: `Jobs that are ${name} now, in all processes`,
          labelNames: ['kind'],
          // All processes on one Redis report the same jobs.
          aggregator: 'max',
          registers,
          async collect() {
            const kinds = await load().catch(() => [])
            this.reset()
            for (const jobs of kinds) this.set({ kind: jobs.kind }, jobs[name])
          },
        })
    },
    storageCalled: ({ store, operation, failed, seconds }) =>
      storageSeconds.observe({ store, operation, outcome: failed ? 'error' : 'ok' }, seconds),
    text: () => registry.metrics(),
    parts: () => registry.getMetricsAsJSON(),
  }
}
