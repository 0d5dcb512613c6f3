import { load } from '../load.js'
import { isDisturbed, machineBusySeconds, restingCpu } from '../measure.js'
import { ownCpuSeconds } from '../server.js'

/**
 * Sends requests one at a time, and measures what they cost.
 *
 * @param {{server: import('../server.js').Server, redis?: object, request: (i: number) => object, count: number,
 *   warmUp?: number}} options `redis` as in redis.js
 * @returns {Promise<object>} as of {@link observe}, with `p50Ms` and `p99Ms`
 */
export async function watch({ server, redis, request, count, warmUp = 0 }) {
  const { url } = server
  if (warmUp > 0) await load({ url, connections: 1, count: warmUp, request })
  return observe({ server, redis }, async () => {
    const { seconds, latencies } = await load({
      url,
      connections: 1,
      count,
      request: (i) => request(warmUp + i),
    })
    const at = (share) => latencies[Math.min(count - 1, Math.floor(share * count))]
    return { count, seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
  })
}

/**
 * Measures what the requests of `send` cost.
 *
 * @param {() => Promise<{count: number, seconds: number}>} send
 * @returns {Promise<object>} the result of `send`, with `cpuMs` of the server; `redis`: commands, round trips, bytes in both
 *   directions and CPU time; all per request. `isDisturbed`: other processes used the machine
 */
export async function observe({ server, redis }, send) {
  const before = await figuresOf({ server, redis })
  const sent = await send()
  // Before the server rests: what Redis does in this time belongs to no request.
  const used = await redis?.usage()
  const after = await figuresOf({ server, redis })
  const { count, seconds } = sent
  const grown = (of) => of(after) - of(before)
  const own = grown(({ own }) => own) + grown(({ redis }) => (redis?.cpuMs ?? 0) / 1000)
  const others = grown(({ busy }) => busy) - grown(({ cpu }) => cpu) - own
  const names = ['commands', 'roundTrips', 'bytes', 'cpuMs']
  return {
    ...sent,
    cpuMs: (1000 * grown(({ cpu }) => cpu)) / count,
    isDisturbed: isDisturbed(others, seconds),
    ...(redis && {
      redis: Object.fromEntries(names.map((name) => [name, (used[name] - before.redis[name]) / count])),
    }),
  }
}

async function figuresOf({ server, redis }) {
  const cpu = await restingCpu(server)
  return { cpu, redis: await redis?.usage(), own: ownCpuSeconds(), busy: machineBusySeconds() }
}
