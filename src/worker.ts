import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { describeVariables, loadConfig } from '../config/load.ts'
import { configWarnings } from '../config/warnings.ts'
import { openMediaWorker } from './app.ts'
import { projectRoot } from './process/project-root.ts'
import { workerUsage } from './process/web/banner.ts'
import { watchHeap } from './process/web/heap.ts'
import { fieldsOfRequest } from './process/web/log.ts'
import { serveMetrics } from './process/web/metrics-server.ts'
import { keepFilesPrivate } from './process/web/private-files.ts'

// Time limit to put running jobs back. Otherwise another worker takes them over when their locks have expired.
const CLOSE_MS = 8_000

async function main(): Promise<void> {
  keepFilesPrivate()
  const argument = process.argv[2]
  if (argument === '--help' || argument === '-h') {
    process.stdout.write(workerUsage(describeVariables()))
    return
  }
  if (argument !== undefined) throw new Error(`expected no arguments but received "${argument}" (see --help)`)

  watchHeap()
  const environment = loadConfig()
  const config = { ...environment, DATA_DIR: resolve(environment.DATA_DIR) }
  const log = pino({ level: config.LOG_LEVEL, mixin: fieldsOfRequest })
  for (const warning of configWarnings()) log.warn(warning)
  const baseUrl = config.BASE_URL ?? `http://localhost:${config.PORT}`
  const worker = await openMediaWorker({ config, root: projectRoot(), baseUrl, log })

  const { METRICS_PORT: port, METRICS_HOST: host } = config
  const read = worker.readMetrics
  if (port !== undefined && read) {
    const { url } = await serveMetrics({ port, host, read })
    log.info({ url }, 'metrics')
  }

  let isStopping = false
  const stop = async (signal: NodeJS.Signals) => {
    if (isStopping) return
    isStopping = true
    log.info({ signal }, 'stopping; running jobs return to the queue')
    await Promise.race([worker.close(), pause(CLOSE_MS)])
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.stdout.write('Sluice: the worker is ready for jobs of video, audio and Office documents\n')
  log.info({ concurrency: config.MEDIA_CONCURRENCY, documents: config.DOCUMENT_CONCURRENCY }, 'ready')
}

await main().catch((error: Error) => {
  process.stderr.write(`sluice: ${error.message}\n`)
  process.exit(1)
})
