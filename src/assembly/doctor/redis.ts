import type { Socket } from 'node:net'
import type { Config } from '../../../config/load.ts'
import type { RedisConnection } from '../../adapters/redis/connection.ts'
import type { Finding } from '../../core/checkup.ts'
import { parseRedisUrl, shownNode } from '../../core/net/redis-url.ts'
import { shownBytes } from './shown-bytes.ts'

// ZMSCORE.
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

const UNDIVIDED: Finding = {
  state: 'warning',
  found: 'INDEX_PARTITIONS has no effect: REDIS_URL is not that of a Redis Cluster',
  advice:
    'Remove INDEX_PARTITIONS, or set REDIS_URL to redis+cluster://host:6379, with several nodes, separated by commas.',
}

/** Checks version, settings, memory and latency of Redis; in a cluster, of each primary. */
export async function checkRedis(config: Config, url: string): Promise<Finding[]> {
  const { connectKeyspaces } = await import('../../adapters/redis/keyspaces.ts')
  const { adviceOf, tryRedis } = await import('../../adapters/redis/refusals.ts')
  const parsed = parseRedisUrl(url)
  const keyspaces = connectKeyspaces({ url, verify: config.REDIS_TLS_VERIFY === 'true' })
  try {
    await keyspaces.ready()
    const facts = await factsOf(keyspaces.all[0].redis)
    if (facts.get('redis_mode') === 'sentinel') return [SENTINEL]
    await Promise.all(keyspaces.all.map(({ redis, keyPrefix }) => tryRedis(redis, { keyPrefix })))
    const primary = parsed?.masterName && `the primary of ${parsed.masterName}`
    if (!parsed?.isCluster) {
      const found = await checkServer(keyspaces.all[0].redis, primary)
      return config.INDEX_PARTITIONS === '1' ? found : [...found, UNDIVIDED]
    }
    const primaries = new Map(keyspaces.all.map(({ redis }) => [addressOf(redis), redis]))
    const findings: Finding[] = [{ state: 'ok', found: `${primaries.size} primaries share the keys` }]
    for (const [address, redis] of [...primaries].sort())
      for (const finding of await checkServer(redis, 'the primary'))
        findings.push({ ...finding, found: `${address}: ${finding.found}` })
    return findings
  } catch (error) {
    const { message, cause } = error as Error
    const found = `REDIS_URL ${parsed?.shown}: ${cause instanceof Error ? causeText(cause) : message}`
    return [{ state: 'problem', found, advice: adviceOf(error) ?? unreachable(found) }]
  } finally {
    await keyspaces.close()
  }
}

/** @param primary the name of the server in messages. Undefined: it needs no replica */
async function checkServer(redis: RedisConnection, primary: string | undefined): Promise<Finding[]> {
  const { warnings } = await import('../../adapters/redis/connection.ts')
  const facts = await factsOf(redis)
  const settings = await warnings(redis)
  return [
    checkVersion(facts.get('redis_version')),
    checkLatency(await latencyMs(redis)),
    ...checkRoom(facts),
    ...checkReplicas(facts, primary),
    ...settings.map((warning): Finding => {
      const [found = '', advice = ''] = warning.split(/: (?=set |make )/)
      return { state: 'warning', found, advice: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.` }
    }),
  ]
}

/** The address of the server at the other end. */
function addressOf({ client }: RedisConnection): string {
  const { remoteAddress = '', remotePort = 0 } = client.stream as Socket
  return shownNode({ host: remoteAddress, port: remotePort })
}

function unreachable(found: string): string {
  if (found.includes('no node of the cluster'))
    return 'Start the nodes of the cluster, or correct their addresses in REDIS_URL.'
  return found.includes('no Sentinel names')
    ? 'Start the Sentinels, or correct REDIS_URL: their addresses, the name, and ?sentinel_password=.'
    : 'Start Redis, or correct REDIS_URL.'
}

function causeText(cause: Error): string {
  // It has the reasons of all nodes.
  if (cause.message.startsWith('no node of the cluster')) return cause.message
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

function checkReplicas(facts: ReadonlyMap<string, string>, primary: string | undefined): Finding[] {
  const replicas = facts.get('connected_slaves')
  if (primary === undefined || replicas === undefined) return []
  const found = `${primary} has ${replicas} ${replicas === '1' ? 'replica' : 'replicas'}`
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
