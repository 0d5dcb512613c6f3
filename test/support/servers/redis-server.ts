import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { temporaryFolder } from '../temporary-folder.ts'
import { atEnd } from './at-end.ts'
import type { LocalCertificate } from './certificate.ts'
import { freePort } from './free-port.ts'

/** A redis-server of this run alone, on a free port, with a temporary folder. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** Stops the process in its tracks (SIGSTOP): connections stay open, nothing answers. */
  freeze(): void
  /** Continues it after a {@link RedisServer.freeze}. */
  thaw(): void
  /** Kills the process, if it runs. What it has on disk stays. */
  stop(): Promise<void>
  /** Starts it again on the same port: with its data where it was appending them, else empty. */
  start(): Promise<void>
  /** Kills the process permanently and removes its folder. */
  remove(): Promise<void>
}

/** A Redis, or a Redis Cluster whose nodes fail together. */
export type AnyRedis = Omit<RedisServer, 'port'>

export interface RedisServerOptions {
  /** Whether the suite freezes or stops it. Clients give up on it as early as usual, else ten times as late, since a busy machine is slow. */
  fails?: boolean
  /** Every write is on disk before it is answered; survives {@link RedisServer.stop}. */
  appendOnly?: boolean
  /** Further options: `['--maxmemory-policy', 'allkeys-lru']`. */
  options?: readonly string[]
  /** Speaks only TLS, also with other servers. */
  tls?: LocalCertificate | undefined
}

// The shell holds the server's life in its standard input: when this process ends, however it ends, the server does.
const LIFELINE = 'redis-server "$@" & echo "pid $!"; read -r _; kill -9 $!'

/** The end of the URL of a server that clients give up on late. */
export const PATIENT = '?timeout=15'

const servers = new Set<RedisServer>()
let shared: Promise<RedisServer> | undefined

/** The server that suites share: each uses its own key prefix and removes its keys. */
export function sharedRedis(): Promise<RedisServer> {
  // Nothing to warn of at a boot, yet nothing is written; and what it holds can be searched for a text.
  shared ??= startRedis({ options: ['--save', '86400 1000000000', '--rdbcompression', 'no'] })
  return shared
}

atEnd(() => Promise.all([...servers].map((server) => server.remove())))

/** Starts a server for one suite, which can be frozen, stopped, or configured. */
export async function startRedis({
  fails = false,
  appendOnly = false,
  options = [],
  tls,
}: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = await temporaryFolder()
  const port = await freePort()
  const args = [
    ...(tls ? ['--port', '0', '--tls-port', `${port}`, ...tlsOptions(tls).flat()] : ['--port', `${port}`]),
    ...['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--databases', '10000'],
    ...['--appendonly', appendOnly ? 'yes' : 'no', '--appendfsync', 'always'],
    ...options,
  ]
  let running: { shell: ChildProcess; pid: number } | undefined

  const signal = (name: NodeJS.Signals) => {
    if (running) process.kill(running.pid, name)
  }
  const server: RedisServer = {
    url: `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}${fails ? '' : PATIENT}`,
    port,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async stop() {
      const shell = running?.shell
      running = undefined
      if (!shell || shell.exitCode !== null || shell.signalCode !== null) return
      const closed = once(shell, 'close')
      shell.stdin?.end()
      await closed
    },
    async start() {
      running ??= await launch(args)
    },
    async remove() {
      servers.delete(server)
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
  servers.add(server)
  await server.start()
  return server
}

/** Names and values of the options of a server with TLS. */
export function tlsOptions({ cert, key }: LocalCertificate): Array<[string, string]> {
  return [
    ['--tls-cert-file', cert],
    ['--tls-key-file', key],
    ['--tls-ca-cert-file', cert],
    ['--tls-auth-clients', 'no'],
    ['--tls-replication', 'yes'],
  ]
}

/** Resolves when the server accepts connections. */
async function launch(args: readonly string[]): Promise<{ shell: ChildProcess; pid: number }> {
  const shell = spawn('sh', ['-c', LIFELINE, 'sh', ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  return new Promise((resolve, reject) => {
    shell.once('error', reject)
    shell.once('close', () => reject(new Error(`redis-server has ended:\n${output}`)))
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const pid = Number(/^pid (\d+)$/m.exec(output)?.[1])
      if (pid && output.includes('Ready to accept connections')) resolve({ shell, pid })
      else if (output.includes('Failed listening')) shell.stdin.end()
    })
  })
}

/** The URL of this database of a server. */
export function withDatabase(url: string, database: number): string {
  return url.replace(/(?=\?|$)/, `/${database}`)
}

/** A key prefix that no other suite has. */
export function newKeyPrefix(): string {
  return `test-${process.pid}-${Math.random().toString(36).slice(2)}:`
}
