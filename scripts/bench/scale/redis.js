import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../free-port.js'

const START_MS = 10_000

export function isRedisInstalled() {
  return spawnSync('redis-server', ['--version']).status === 0
}

/** A redis-server of its own on a free port, which stores nothing on the disk. */
export async function startRedis() {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
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
