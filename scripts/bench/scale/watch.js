import { load } from '../load.js'
import { restingCpu } from '../measure.js'

/**
 * Sends requests one at a time, and measures what they cost.
 *
 * @param {{server: import('../server.js').Server, redis?: object, request: (i: number) => object, count: number,
 *   warmUp?: number}} options `redis` as in redis.js
 * @returns {Promise<object>} `cpuMs` of the server, `p50Ms`, `p99Ms`, and `redis`: commands, round trips, bytes in both
 *   directions and CPU time, all per request
 */
export async function watch({ server, redis, request, count, warmUp = 0 }) {
  const { url } = server
  if (warmUp > 0) await load({ url, connections: 1, count: warmUp, request })
  const cpuBefore = await restingCpu(server)
  const before = await redis?.usage()
  const { latencies } = await load({ url, connections: 1, count, request: (i) => request(warmUp + i) })
  const after = await redis?.usage()
  const at = (share) => latencies[Math.min(count - 1, Math.floor(share * count))]
  return {
    cpuMs: (1000 * ((await restingCpu(server)) - cpuBefore)) / count,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    ...(redis ? { redis: perRequest({ before, after, count }) } : {}),
  }
}

/** @param {{before: object, after: object, count: number}} options two results of `usage` */
export function perRequest({ before, after, count }) {
  const names = ['commands', 'roundTrips', 'bytes', 'cpuMs']
  return Object.fromEntries(names.map((name) => [name, (after[name] - before[name]) / count]))
}
