import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { load } from '../load.js'
import { deliveryOf, listOf, uploaded } from './requests.js'
import { newStorage } from './storage.js'
import { observe } from './watch.js'

const CONNECTIONS = 32
// A list keeps a process busy for milliseconds.
const LIST_CONNECTIONS = 8
const TIMEOUT = '30s'
const WARM_UP_SECONDS = 1
const SECONDS = 5
// Without wrk, or to test the bench.
const REQUESTS = 20_000

const DERIVATIVE = '?w=200&f=webp'
const delivery = (key) => deliveryOf(key, DERIVATIVE)
const FROM_INDEX = {
  work: 'from the index and the bucket',
  env: { HOT_CACHE_BYTES: '0' },
  requestOf: delivery,
}
const WORKS = [{ work: 'from memory', env: {}, requestOf: delivery }, FROM_INDEX]
const FILLED_WORKS = [
  FROM_INDEX,
  {
    work: 'list, the newest 50',
    env: {},
    requestOf: () => listOf('limit=50'),
    connections: LIST_CONNECTIONS,
  },
]

/**
 * The delivery of one stored derivative by several web processes that share Redis.
 *
 * @param {{folder: string, photo: string, redis: object, count: number, isQuick: boolean}} options `count`: of processes
 * @returns {Promise<Array<{work: string, figures: object}>>}
 */
export async function measureProcesses({ folder, photo, redis, count: processes, isQuick }) {
  const storage = await newStorage({ folder, photo, redis })
  return measured({ storage, redis, processes, isQuick, works: WORKS })
}

/**
 * The delivery of a stored derivative, and a list, with an index that has many files.
 *
 * @param {{storage: object, redis: object, files: number, isQuick: boolean}} options
 * @returns {Promise<Array<{group: string, count: number, work: string, figures: object}>>} `count`: of processes
 */
export async function measureFilledProcesses({ files, isQuick, ...options }) {
  const rows = []
  for (const processes of isQuick ? [1, 2] : [1, 2, 4]) {
    const some = await measured({ ...options, processes, isQuick, works: FILLED_WORKS })
    rows.push(...some.map((row) => ({ ...row, group: 'processes', count: processes, files })))
  }
  return rows
}

async function measured({ storage, redis, processes, isQuick, works }) {
  const rows = []
  for (const { work, env, requestOf, connections = CONNECTIONS } of works) {
    const { server } = await storage.start({ env: { ...env, WEB_CONCURRENCY: String(processes) } })
    try {
      const [key] = await uploaded(server, { picture: storage.picture, count: 1 })
      const request = requestOf(key)
      const send = isQuick || !isWrkInstalled() ? sendOwn : sendByWrk
      const count = isQuick ? 100 : connections === CONNECTIONS ? REQUESTS : REQUESTS / 20
      const options = { url: server.url, request, connections, count }
      await send({ ...options, seconds: WARM_UP_SECONDS })
      const figures = await observe({ server, redis }, () => send({ ...options, seconds: SECONDS }))
      rows.push({ work, figures: { ...figures, residentBytes: await server.residentBytes() } })
    } finally {
      await server.stop()
    }
  }
  return rows
}

function isWrkInstalled() {
  return spawnSync('wrk', ['--version']).error === undefined
}

/** wrk needs far less CPU time for a request than Node, which would be slower than the service. */
async function sendByWrk({ url, request: { path, headers = {} }, connections, seconds }) {
  const args = [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--latency', '--timeout', TIMEOUT],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    `${url}${path}`,
  ]
  const { stdout } = await promisify(execFile)('wrk', args)
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk received errors:\n${stdout}`)
  const found = (pattern) => pattern.exec(stdout).slice(1)
  const milliseconds = ([number, unit]) => Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit]
  return {
    sender: 'wrk',
    seconds,
    count: Number(found(/(\d+) requests in/)[0]),
    rate: Number(found(/Requests\/sec:\s+([\d.]+)/)[0]),
    p50Ms: milliseconds(found(/50%\s+([\d.]+)(us|ms|s)/)),
    p99Ms: milliseconds(found(/99%\s+([\d.]+)(us|ms|s)/)),
  }
}

async function sendOwn({ url, request, connections, count }) {
  const { seconds, latencies } = await load({ url, connections, count, request: () => request })
  const at = (share) => latencies[Math.floor(share * count)]
  return { sender: 'undici', seconds, count, rate: count / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}
