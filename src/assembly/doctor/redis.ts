import type { Config } from '../../../config/load.ts'
import type { RedisConnection } from '../../adapters/redis/connection.ts'
import type { Finding } from '../../core/checkup.ts'
import { parseRedisUrl } from '../../core/net/redis-url.ts'
import { keyPrefix } from '../storage/key-prefix.ts'
import { shownBytes } from './shown-bytes.ts'

// GETEX and ZRANGE with BYLEX.
const OLDEST = [6, 2] as const
const PINGS = 9
// A Redis in the same data center responds within 1 ms. Each request of a client takes some calls.
const SLOW_MS = 10
const NEARLY_FULL = 0.8
const SENTINEL: Finding = {
  state: 'problem',
  found: 'REDIS_URL names a Sentinel, which has no data',
  advice: 'Set REDIS_URL to redis+sentinel://host:26379/name, with all Sentinels, separated by commas.',
}

/** Checks version, settings, memory and latency of Redis. */
export async function checkRedis(config: Config, url: string): Promise<Finding[]> {
  const { connectRedis, warnings } = await import('../../adapters/redis/connection.ts')
  const { adviceOf, tryRedis } = await import('../../adapters/redis/refusals.ts')
  const redis = connectRedis({ url, verify: config.REDIS_TLS_VERIFY === 'true' })
  try {
    await redis.ready()
    const facts = await factsOf(redis)
    if (facts.get('redis_mode') === 'sentinel') return [SENTINEL]
    await tryRedis(redis, { keyPrefix })
    const settings = await warnings(redis)
    return [
      checkVersion(facts.get('redis_version')),
      checkLatency(await latencyMs(redis)),
      ...checkRoom(facts),
      ...checkReplicas(facts, parseRedisUrl(url)?.masterName),
      ...settings.map((warning): Finding => {
        const [found = '', advice = ''] = warning.split(/: (?=set |make )/)
        return { state: 'warning', found, advice: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.` }
      }),
    ]
  } catch (error) {
    const { message, cause } = error as Error
    const found = `REDIS_URL ${parseRedisUrl(url)?.shown}: ${cause instanceof Error ? causeText(cause) : message}`
    return [{ state: 'problem', found, advice: adviceOf(error) ?? unreachable(found) }]
  } finally {
    await redis.close()
  }
}

function unreachable(found: string): string {
  return found.includes('no Sentinel names')
    ? 'Start the Sentinels, or correct REDIS_URL: their addresses, the name, and ?sentinel_password=.'
    : 'Start Redis, or correct REDIS_URL.'
}

function causeText(cause: Error): string {
  const inner = cause.cause instanceof Error ? cause.cause : cause
  return inner.message
}

/** What Redis states about itself. Empty for a user who may not call INFO. */
async function factsOf(redis: RedisConnection): Promise<ReadonlyMap<string, string>> {
  const text = await redis.send(async (client) => {
    try {
      return await client.info()
    } catch (error) {
      if ((error as Error).message.startsWith('NOPERM')) return ''
      throw error
    }
  })
  return new Map([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]))
}

/** Sentinels need a replica that can take the place of the primary. */
function checkReplicas(facts: ReadonlyMap<string, string>, masterName: string | undefined): Finding[] {
  const replicas = facts.get('connected_slaves')
  if (masterName === undefined || replicas === undefined) return []
  const found = `the primary of ${masterName} has ${replicas} ${replicas === '1' ? 'replica' : 'replicas'}`
  return replicas === '0'
    ? [{ state: 'warning', found, advice: 'Start a replica that can take the place of the primary.' }]
    : [{ state: 'ok', found }]
}

function checkVersion(version: string | undefined): Finding {
  if (version === undefined)
    return {
      state: 'warning',
      found: 'the user in REDIS_URL may not call INFO',
      advice:
        'Allow INFO: otherwise the index is not compared with the bucket after a restart of Redis, and its version and memory are not checked.',
    }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const found = `version ${version}`
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
    ? { state: 'ok', found }
    : { state: 'problem', found, advice: `Install Redis ${OLDEST.join('.')} or later.` }
}

/** The shortest time of a command, in milliseconds: that of the network, whatever else the machines do. */
async function latencyMs(redis: RedisConnection): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < PINGS; i += 1) {
    const began = performance.now()
    await redis.send((client) => client.ping())
    times.push(performance.now() - began)
  }
  return Math.min(...times)
}

function checkLatency(ms: number): Finding {
  const found = `responds in ${ms.toFixed(1)} ms`
  return ms < SLOW_MS
    ? { state: 'ok', found }
    : { state: 'warning', found, advice: 'Run Redis close to the service, in the same data center.' }
}

function checkRoom(facts: ReadonlyMap<string, string>): Finding[] {
  const [used, most] = [Number(facts.get('used_memory')), Number(facts.get('maxmemory'))]
  if (!(most > 0) || used < NEARLY_FULL * most) return []
  const found = `${shownBytes(used)} of maxmemory ${shownBytes(most)} in use`
  return [
    {
      state: used < most ? 'warning' : 'problem',
      found,
      advice: 'Increase maxmemory: a full Redis refuses uploads.',
    },
  ]
}
