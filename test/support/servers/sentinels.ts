import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { eventually } from '../eventually.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { atEnd } from './at-end.ts'
import type { LocalCertificate } from './certificate.ts'
import { freePort } from './free-port.ts'
import { type RedisServer, startRedis, tlsOptions } from './redis-server.ts'

/** A primary with replicas, watched by three Sentinels. */
export interface WatchedRedis {
  /** As `REDIS_URL` has it. */
  readonly url: string
  /** The primary at the start, then its replicas. */
  readonly servers: readonly RedisServer[]
  /** The server that is the primary now, as the Sentinels say. */
  primary(): Promise<RedisServer>
  remove(): Promise<void>
}

const NAME = 'mymaster'
const SENTINELS = 3
const LIFELINE = 'redis-server "$1" --sentinel & read -r _; kill -9 $!'

// What a test has not removed, because it failed before.
const started = new Set<() => Promise<void>>()
atEnd(() => Promise.all([...started].map((remove) => remove())))

/** Starts them. The Sentinels appoint a replica a second after the primary is gone. @param options.options of every server */
export async function startWatchedRedis({
  replicas = 1,
  options = [],
  tls,
}: {
  replicas?: number
  options?: readonly string[]
  tls?: LocalCertificate
} = {}): Promise<WatchedRedis> {
  // By default, a replica waits five seconds for others that need the same data.
  const ofAll = ['--repl-diskless-sync-delay', '0', ...options]
  const first = await startRedis({ tls, options: ofAll })
  const followers = await Promise.all(
    Array.from({ length: replicas }, () =>
      startRedis({ tls, options: ['--replicaof', '127.0.0.1', `${first.port}`, ...ofAll] }),
    ),
  )
  const servers = [first, ...followers]
  const folder = await temporaryFolder()
  const sentinels = await Promise.all(
    Array.from({ length: SENTINELS }, async (_, i) => {
      const port = await freePort()
      const path = join(folder, `sentinel-${i}.conf`)
      const lines = [
        ...(tls ? ['port 0', `tls-port ${port}`] : [`port ${port}`]),
        ...(tls ? tlsOptions(tls) : []).map(([name, value]) => `${name.slice(2)} ${value}`),
        ...['bind 127.0.0.1', `dir ${folder}`],
        `sentinel monitor ${NAME} 127.0.0.1 ${first.port} 2`,
        `sentinel down-after-milliseconds ${NAME} 1000`,
        `sentinel failover-timeout ${NAME} 3000`,
      ]
      await writeFile(path, lines.join('\n'))
      const shell = spawn('sh', ['-c', LIFELINE, 'sh', path], { stdio: ['pipe', 'ignore', 'inherit'] })
      return { port, shell }
    }),
  )
  const remove = async () => {
    started.delete(remove)
    for (const { shell } of sentinels) {
      if (shell.exitCode !== null) continue
      const closed = once(shell, 'close')
      shell.stdin.end()
      await closed
    }
    await Promise.all(servers.map((server) => server.remove()))
    await rm(folder, { recursive: true, force: true })
  }
  started.add(remove)
  const ask = async (...words: string[]) => {
    for (const { port } of sentinels) {
      const redis = new Redis({
        ...{ host: '127.0.0.1', port, lazyConnect: true, retryStrategy: () => null },
        ...(tls ? { tls: { ca: tls.ca } } : {}),
      })
      redis.on('error', () => {})
      try {
        await redis.connect()
        return (await redis.call('SENTINEL', ...words)) as unknown[]
      } catch {
        // The next one.
      } finally {
        redis.disconnect()
      }
    }
    throw new Error('no Sentinel answers')
  }
  await eventually(async () => {
    const known = [await ask('replicas', NAME), await ask('sentinels', NAME)]
    if (known[0]?.length !== replicas || known[1]?.length !== SENTINELS - 1)
      throw new Error('the Sentinels do not know each other yet')
  })
  return {
    url: `${tls ? 'rediss' : 'redis'}+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${NAME}`,
    servers,
    async primary() {
      const [, port] = await ask('get-master-addr-by-name', NAME)
      const found = servers.find((server) => server.port === Number(port))
      if (!found) throw new Error(`an unknown primary: ${port}`)
      return found
    },
    remove,
  }
}
