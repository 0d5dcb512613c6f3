import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pino from 'pino'
import { type Config, describeVariables, loadConfig } from '../config/load.ts'
import { configWarnings } from '../config/warnings.ts'
import {
  type App,
  aggregateMetrics,
  createApp,
  credentialsFile,
  lastingMetrics,
  loadEverything,
} from './app.ts'
import { parseRedisUrl } from './core/net/redis-url.ts'
import { projectRoot } from './process/project-root.ts'
import { version } from './process/version.ts'
import { greet, usage } from './process/web/banner.ts'
import { checkReport } from './process/web/check-report.ts'
import { isOneOfSeveral, type Ready, runWebProcesses, tellReady } from './process/web/cluster.ts'
import { gatherMetrics, shareMetrics } from './process/web/cluster-metrics.ts'
import { watchHeap } from './process/web/heap.ts'
import { createLog } from './process/web/log.ts'
import { messageClasses } from './process/web/message-classes.ts'
import { serveMetrics } from './process/web/metrics-server.ts'
import { holderOfPort } from './process/web/port-holder.ts'
import { keepFilesPrivate } from './process/web/private-files.ts'
import { createShutdown } from './process/web/shutdown.ts'
import { createWebServer } from './process/web/web-server.ts'

// How long work without a client may take after that: storing received files, event handlers.
const CLOSE_MS = 2_000
const FLUSH_MS = 250
// Ctrl-C under npm arrives twice: from the terminal and from npm.
const DUPLICATE_SIGNAL_MS = 1_000
// The backlog: connections that the system holds until the process accepts them. By
// default, it drops connections above 511, and the client, or a health check, retries
// after 1 s, then 3 s. Linux limits it to net.core.somaxconn, 4096 by default.
const MAX_UNACCEPTED = 4096

async function main(): Promise<void> {
  keepFilesPrivate()
  const argument = process.argv[2]
  if (argument === '--help' || argument === '-h') {
    process.stdout.write(usage(describeVariables()))
    return
  }
  if (argument === '--version') {
    process.stdout.write(`${version()}\n`)
    return
  }
  if (argument === '--check') {
    process.stdout.write(checkReport(await loadEverything({ config: loadConfig(), root: projectRoot() })))
    for (const warning of configWarnings()) process.stderr.write(`sluice: ${warning}\n`)
    return
  }
  if (argument !== undefined) throw new Error(`expected no arguments but received "${argument}" (see --help)`)

  watchHeap()
  const environment = loadConfig()
  const config = { ...environment, DATA_DIR: resolve(environment.DATA_DIR) }
  const log = createLog(config.LOG_LEVEL)
  if (!isOneOfSeveral) for (const warning of configWarnings()) log.warn(warning)
  if (config.WEB_CONCURRENCY > 1 && !isOneOfSeveral) {
    const count = config.WEB_CONCURRENCY
    const read = gatherMetrics({ aggregate: aggregateMetrics, lasting: lastingMetrics })
    await openMetrics(config, { log, read })
    const graceMs = (config.SHUTDOWN_DELAY_SECONDS + config.SHUTDOWN_DRAIN_SECONDS) * 1000 + 2 * CLOSE_MS
    showReady(config, { ...(await runWebProcesses({ count, graceMs, log })), log })
    return
  }
  // Early requests wait until startup has finished, instead of being refused. The port is already open.
  const early: Array<Parameters<RequestListener>> = []
  let handle: RequestListener = (...request) => early.push(request)
  const messages = messageClasses()
  const listener: RequestListener = (req, res) => {
    shutdown.mark(res)
    handle(req, res)
  }
  const server = createWebServer(config, listener, messages)
  const shutdown = createShutdown(server)
  const port = await listen(server, config)
  const baseUrl = config.BASE_URL ?? `http://localhost:${port}`
  const app = await createApp({
    config,
    root: projectRoot(),
    baseUrl,
    log,
    messages,
    isStopping: shutdown.hasBegun,
    ...(isOneOfSeveral ? { shareMetrics } : {}),
  })
  if (!isOneOfSeveral) await openMetrics(config, { log, read: app.readMetrics })
  app.handleParseErrors(server)
  handle = app.handle
  for (const request of early.splice(0)) handle(...request)

  let stoppingSince: number | undefined
  const stop = async (signal: NodeJS.Signals, delaySeconds = 0) => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > DUPLICATE_SIGNAL_MS) exitBySignal(signal)
      return
    }
    stoppingSince = performance.now()
    log.info({ signal, delaySeconds }, 'stopping; requests in progress can finish')
    await shutdown.stop({ delayMs: delaySeconds * 1000, drainMs: config.SHUTDOWN_DRAIN_SECONDS * 1000 })
    await Promise.race([app.close().then(() => process.exit(0)), pause(CLOSE_MS)])
    log.warn('forced shutdown; unfinished work is cleaned up at the next start')
    // Logging is asynchronous. Do not wait for a blocked stdout.
    await pause(FLUSH_MS)
    exitBySignal(signal)
  }
  // SIGINT is Ctrl-C: no load balancer has to notice the shutdown, and a person waits for it.
  process.on('SIGTERM', () => stop('SIGTERM', config.SHUTDOWN_DELAY_SECONDS))
  process.on('SIGINT', () => stop('SIGINT'))
  log.info({ baseUrl, port, dataDir: config.DATA_DIR }, 'ready')
  if (isOneOfSeveral) {
    process.once('disconnect', () => stop('SIGTERM'))
    tellReady({ baseUrl, firstVisit: app.firstVisit() })
  } else {
    showReady(config, { baseUrl, log, firstVisit: app.firstVisit(), credentials: app.credentials })
  }
}

/** @param credentials of the first client, created by the service when the configuration has none */
function showReady(
  config: Config,
  { baseUrl, firstVisit, log, credentials }: Ready & { log: pino.Logger; credentials?: App['credentials'] },
): void {
  const { CLIENT_TOKEN, SECRET_CLIENT_TOKEN, S3_BUCKET, REDIS_URL, DATA_DIR } = config
  const created = SECRET_CLIENT_TOKEN === undefined ? credentials : undefined
  greet(
    {
      version: version(),
      baseUrl,
      bucket: S3_BUCKET ? { kind: 's3', name: `S3 bucket ${S3_BUCKET}` } : { kind: 'disk', name: DATA_DIR },
      index: REDIS_URL
        ? { kind: 'redis', name: `Redis at ${parseRedisUrl(REDIS_URL)?.shown}` }
        : { kind: 'embedded', name: DATA_DIR },
      clientToken: credentials?.clientToken ?? CLIENT_TOKEN ?? '',
      created: created && {
        secretClientToken: created.secretClientToken,
        file: credentialsFile(config),
      },
      firstVisit,
    },
    {
      isTerminal: process.stdout.isTTY === true,
      write: (text) => void process.stdout.write(text),
      log: log.child({}, { level: 'info' }),
    },
  )
}

/** Serves the metrics of all processes on METRICS_PORT, if it is set. */
async function openMetrics(
  { METRICS_PORT: port, METRICS_HOST: host }: Config,
  { log, read }: { log: pino.Logger; read: (() => Promise<string>) | undefined },
): Promise<void> {
  if (port === undefined || read === undefined) return
  const { url } = await serveMetrics({ port, host, read })
  log.info({ url }, 'metrics')
}

/** @returns the port; a free one was chosen when it is 0 in the configuration */
async function listen(server: Server, { PORT, HOST }: Config): Promise<number> {
  await new Promise<void>((listening, reject) => {
    server.once('error', reject)
    server.listen({ port: PORT, host: HOST, backlog: MAX_UNACCEPTED }, listening)
  }).catch(async (cause) => {
    if (cause.code !== 'EADDRINUSE') throw cause
    throw new Error(
      `port ${PORT} is in use by ${await holderOfPort(PORT)}. Stop that process or set another PORT`,
      { cause },
    )
  })
  return (server.address() as AddressInfo).port
}

/**
 * Ends the process at once, as the default action of the signal.
 * `process.exit` would wait for a running encoder, which cannot be stopped.
 */
function exitBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  // PID 1 of a container does not receive its own signal. It ends when the encoder has ended.
  process.exit(0)
}

await main().catch((error: Error) => {
  process.stderr.write(`sluice: ${error.message}\n`)
  process.exit(1)
})
