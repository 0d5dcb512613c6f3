import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../free-port.js'

const START_MS = 10_000

export function isRedisInstalled() {
  return spawnSync('redis-server', ['--version']).status === 0
}

/** A redis-server of its own on a free port, which stores nothing on the disk. @param {string[]} more further arguments */
export async function startRedis(more = []) {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more]
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  const kill = () => child.kill('SIGKILL')
  // An aborted benchmark leaves no server behind.
  process.once('exit', kill)
  const ended = once(child, 'exit')
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => {})
  for (const until = performance.now() + START_MS; ; await sleep(20)) {
    try {
      await client.connect()
      break
    } catch (error) {
      if (performance.now() > until) throw new Error('redis-server did not start', { cause: error })
    }
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    client,
    /** What the server has done since its start, and its memory in bytes. */
    async usage() {
      const info = await client.info('everything')
      const number = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)[1])
      return {
        commands: number('total_commands_processed'),
        roundTrips: number('total_reads_processed'),
        bytes: number('total_net_input_bytes') + number('total_net_output_bytes'),
        cpuMs: 1000 * (number('used_cpu_user') + number('used_cpu_sys')),
        memory: number('used_memory'),
      }
    },
    async stop() {
      client.disconnect()
      kill()
      await ended
      process.off('exit', kill)
    },
  }
}

const NODES = 3
const SLOTS = 16_384

/** A Redis Cluster of its own: three primaries without replicas. It has the functions of {@link startRedis}, for all nodes. */
export async function startRedisCluster(folder) {
  const nodes = []
  for (let i = 0; i < NODES; i += 1) {
    const bus = await freePort()
    const files = ['--cluster-config-file', join(folder, `node-${i}.conf`)]
    const node = await startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(bus), ...files])
    nodes.push({ ...node, bus })
  }
  const width = Math.ceil(SLOTS / NODES)
  for (const [i, { url, bus, client }] of nodes.entries()) {
    await client.call('CLUSTER', 'ADDSLOTSRANGE', i * width, Math.min(SLOTS, (i + 1) * width) - 1)
    if (i > 0) await nodes[0].client.call('CLUSTER', 'MEET', '127.0.0.1', new URL(url).port, bus)
  }
  for (const until = performance.now() + START_MS; ; await sleep(50)) {
    const infos = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO')))
    if (infos.every((info) => String(info).includes('cluster_state:ok'))) break
    if (performance.now() > until) throw new Error('the cluster did not start')
  }
  const usages = () => Promise.all(nodes.map(({ usage }) => usage()))
  return {
    url: `redis+cluster://${nodes.map(({ url }) => new URL(url).host).join(',')}`,
    env: { INDEX_PARTITIONS: '64' },
    async usage() {
      const all = await usages()
      return Object.fromEntries(
        Object.keys(all[0]).map((name) => [name, all.reduce((sum, one) => sum + one[name], 0)]),
      )
    },
    /** The CPU time of each node, and its memory. */
    usages,
    async stop() {
      await Promise.all(nodes.map(({ stop }) => stop()))
    },
  }
}
