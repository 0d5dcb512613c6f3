/**
 * A panel of the dashboard.
 *
 * @typedef {object} Panel
 * @property {string} title
 * @property {string} text what the reader can conclude from it
 * @property {[query: string, legend: string][]} queries in PromQL. `$sluice` selects the processes, `$by` is the interval of rates
 * @property {string} [unit] of Grafana; default: `short`
 * @property {'timeseries' | 'stat'} [type] default: `timeseries`
 * @property {1} [max] the end of the axis: for shares
 * @property {true} [isStacked]
 */

/** The sum of the rates of a counter, by labels. */
const rate = (metric, by = '', labels = '') =>
  `sum${by && ` by (${by})`} (rate(${metric}{$sluice${labels && `, ${labels}`}}[$by]))`
/** A quantile of a histogram, by labels. */
const quantile = (share, metric, by = '', labels = '') =>
  `histogram_quantile(${share}, ${rate(`${metric}_bucket`, by ? `le, ${by}` : 'le', labels)})`
const gauge = (aggregation, metric, by = '', labels = '') =>
  `${aggregation}${by && ` by (${by})`} (${metric}{$sluice${labels && `, ${labels}`}})`

const REQUESTS = 'sluice_http_requests_total'
const REQUEST_SECONDS = 'sluice_http_request_duration_seconds'
const LOOKUPS = 'sluice_derivative_lookups_total'
const PROBLEMS = 'sluice_http_problems_total'
const TRANSFORM_SECONDS = 'sluice_transform_duration_seconds'
const STORAGE_SECONDS = 'sluice_storage_duration_seconds'
const WEBHOOK_SECONDS = 'sluice_webhook_attempt_duration_seconds'
const JOB_SECONDS = 'sluice_job_duration_seconds'

/** The rows of the dashboard, from the top to the bottom. @type {{ title: string, panels: Panel[] }[]} */
export const ROWS = [
  {
    title: 'Overview',
    panels: [
      {
        title: 'Bucket and index',
        text: '1: it responds. 0: it does not.',
        type: 'stat',
        queries: [[gauge('min', 'sluice_up', 'store'), '{{store}}']],
      },
      {
        title: 'Instances by version',
        text: 'More than one version during an update only.',
        type: 'stat',
        queries: [[gauge('count', 'sluice_build_info', 'version'), '{{version}}']],
      },
      {
        title: 'Requests',
        text: 'Per second.',
        type: 'stat',
        unit: 'reqps',
        queries: [[rate(REQUESTS), 'requests']],
      },
      {
        title: 'Server errors',
        text: 'The share of responses with a status of 500 or 503. Others of 500 and above are those of remote servers and unsupported requests.',
        type: 'stat',
        unit: 'percentunit',
        queries: [
          [`(${rate(REQUESTS, '', 'status=~"500|503"')} or vector(0)) / ${rate(REQUESTS)}`, 'errors'],
        ],
      },
      {
        title: 'Index is ready',
        text: '0: the part lacks files, until the index is compared with the bucket.',
        type: 'stat',
        queries: [[gauge('min', 'sluice_index_ready', 'part'), '{{part}}']],
      },
    ],
  },
  {
    title: 'Traffic',
    panels: [
      {
        title: 'Requests by status',
        text: '"aborted": the client has disconnected before the response began.',
        unit: 'reqps',
        isStacked: true,
        queries: [[rate(REQUESTS, 'status'), '{{status}}']],
      },
      {
        title: 'Requests by route',
        text: 'The ten routes with the most requests.',
        unit: 'reqps',
        queries: [[`topk(10, ${rate(REQUESTS, 'method, route')})`, '{{method}} {{route}}']],
      },
      {
        title: 'Bytes',
        text: 'Headers included.',
        unit: 'Bps',
        queries: [[rate('sluice_http_bytes_total', 'direction'), '{{direction}}']],
      },
    ],
  },
  {
    title: 'Latency',
    panels: [
      {
        title: 'All GET requests',
        text: 'To the end of the response, so a slow client counts too.',
        unit: 's',
        queries: [0.5, 0.95, 0.99].map((share) => [
          quantile(share, REQUEST_SECONDS, '', 'method="GET"'),
          `${share * 100} %`,
        ]),
      },
      {
        title: '95 % of requests, by route',
        text: 'Renders, uploads and streams of events take longer than the delivery of stored files.',
        unit: 's',
        queries: [[quantile(0.95, REQUEST_SECONDS, 'method, route'), '{{method}} {{route}}']],
      },
    ],
  },
  {
    title: 'Caches',
    panels: [
      {
        title: 'Hit ratio of derivatives',
        text: 'The share of requested derivatives that were stored already. The others were rendered.',
        unit: 'percentunit',
        max: 1,
        queries: [[`${rate(LOOKUPS, '', 'found="hit"')} / ${rate(LOOKUPS)}`, 'hits']],
      },
      {
        title: 'Responses from the hot cache',
        text: 'The share of all responses that came from memory.',
        unit: 'percentunit',
        max: 1,
        queries: [[`${rate('sluice_hot_responses_total')} / ${rate(REQUESTS)}`, 'hot']],
      },
      {
        title: 'Saved by recompression',
        text: 'Bytes per second that were not sent, because a smaller image was delivered.',
        unit: 'Bps',
        queries: [[rate('sluice_recompression_saved_bytes_total'), 'saved']],
      },
    ],
  },
  {
    title: 'Transformations',
    panels: [
      {
        title: '95 % of renders, by format',
        text: 'Without the time in the queue.',
        unit: 's',
        queries: [[quantile(0.95, TRANSFORM_SECONDS, 'format', 'outcome="done"'), '{{format}}']],
      },
      {
        title: 'Renders by format',
        text: 'Per second.',
        unit: 'ops',
        isStacked: true,
        queries: [[rate(`${TRANSFORM_SECONDS}_count`, 'format', 'outcome="done"'), '{{format}}']],
      },
      {
        title: 'Failed renders',
        text: '"refused": because of the file or the request. "failed": a fault of the service or the machine.',
        unit: 'ops',
        queries: [[rate(`${TRANSFORM_SECONDS}_count`, 'outcome', 'outcome!="done"'), '{{outcome}}']],
      },
    ],
  },
  {
    title: 'Queues and webhooks',
    panels: [
      {
        title: 'Transformations',
        text: 'When as many wait as the limit permits, the next one gets a 503.',
        queries: [
          [gauge('sum', 'sluice_transforms_running'), 'running'],
          [gauge('sum', 'sluice_transforms_waiting'), 'waiting'],
          [gauge('sum', 'sluice_transforms_waiting_limit'), 'limit'],
        ],
      },
      {
        title: 'Jobs that wait, by kind',
        text: 'All processes on one Redis report the same jobs.',
        queries: [[gauge('max', 'sluice_jobs_waiting', 'kind'), '{{kind}}']],
      },
      {
        title: 'Jobs that run, by kind',
        text: 'In all processes.',
        queries: [[gauge('max', 'sluice_jobs_running', 'kind'), '{{kind}}']],
      },
      {
        title: 'Ended jobs',
        text: '"retried": it runs again. "put_off": it runs later, and this attempt does not count.',
        unit: 'ops',
        queries: [[rate(`${JOB_SECONDS}_count`, 'kind, outcome'), '{{kind}} {{outcome}}']],
      },
      {
        title: 'Attempts of webhooks',
        text: '"failed": no further attempt follows. sluice webhook replay sends the event again.',
        unit: 'ops',
        queries: [[rate(`${WEBHOOK_SECONDS}_count`, 'outcome'), '{{outcome}}']],
      },
      {
        title: '95 % of attempts of webhooks',
        text: 'A receiver has 10 seconds to respond.',
        unit: 's',
        queries: [[quantile(0.95, WEBHOOK_SECONDS), 'all receivers']],
      },
    ],
  },
  {
    title: 'Budgets and errors',
    panels: [
      {
        title: 'Refused because of a budget',
        text: '429: one caller, or one client, has used up its share. 503: all callers together.',
        unit: 'reqps',
        queries: [
          [rate(PROBLEMS, 'code, status', 'status=~"429|503", code!="storage_full"'), '{{status}} {{code}}'],
        ],
      },
      {
        title: 'Errors by code',
        text: 'The codes are explained in docs/reference/errors.md.',
        unit: 'reqps',
        queries: [[`topk(15, ${rate(PROBLEMS, 'code')})`, '{{code}}']],
      },
    ],
  },
  {
    title: 'Redis, S3 and the index',
    panels: [
      {
        title: '95 % of calls of the bucket (S3 or a disk)',
        text: 'By operation.',
        unit: 's',
        queries: [[quantile(0.95, STORAGE_SECONDS, 'operation', 'store="bucket"'), '{{operation}}']],
      },
      {
        title: '95 % of calls of the index (Redis or LevelDB)',
        text: 'By operation.',
        unit: 's',
        queries: [[quantile(0.95, STORAGE_SECONDS, 'operation', 'store="index"'), '{{operation}}']],
      },
      {
        title: 'Failed calls',
        text: 'Per second.',
        unit: 'ops',
        queries: [
          [
            rate(`${STORAGE_SECONDS}_count`, 'store, operation', 'outcome="error"'),
            '{{store}} {{operation}}',
          ],
        ],
      },
      {
        title: 'Comparison of index and bucket',
        text: 'After a restart of Redis. "all" is absent when it is unknown.',
        queries: [
          [gauge('max', 'sluice_index_compared_files'), 'compared'],
          [gauge('max', 'sluice_index_files'), 'all'],
        ],
      },
      {
        title: 'Differences that a comparison has found',
        text: '"failed": the file could not be added. The log names it.',
        queries: [
          [`sum by (outcome) (increase(sluice_index_differences_total{$sluice}[$by]))`, '{{outcome}}'],
        ],
      },
      {
        title: 'Moves to other partitions',
        text: 'Clients whose files move in a Redis Cluster.',
        queries: [[gauge('max', 'sluice_index_moves'), 'clients']],
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'Memory',
        text: 'Of all processes of an instance. ffmpeg and LibreOffice are not included.',
        unit: 'bytes',
        queries: [
          [gauge('sum', 'process_resident_memory_bytes', 'instance'), '{{instance}} resident'],
          [gauge('sum', 'nodejs_heap_size_used_bytes', 'instance'), '{{instance}} heap'],
        ],
      },
      {
        title: 'CPU',
        text: 'Cores.',
        queries: [[rate('process_cpu_seconds_total', 'instance'), '{{instance}}']],
      },
      {
        title: 'Lag of the event loop',
        text: '99 % of turns begin within this time. Of several processes, the highest value.',
        unit: 's',
        queries: [[gauge('max', 'nodejs_eventloop_lag_p99_seconds', 'instance'), '{{instance}}']],
      },
    ],
  },
]
