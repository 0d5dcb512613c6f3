import { rm } from 'node:fs/promises'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { loadConfig } from '../../config/load.ts'
import { type App, type AppOptions, createApp, type Storage } from '../../src/app.ts'
import { messageClasses } from '../../src/process/web/message-classes.ts'
import { createWebServer } from '../../src/process/web/web-server.ts'
import type { Tokens } from '../../src/service/clients/clients.ts'
import { type Backend, EMBEDDED } from './backend.ts'
import { installedPrograms } from './media/programs.ts'
import { watchResponses } from './openapi/response-check.ts'
import { openSharedPool } from './programs/shared-pool.ts'
import { expectNoSecrets } from './secrets.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { expectDocumentedProblems } from './texts/documented-problems.ts'
import { type RecordedLog, recordLog } from './texts/recorded-log.ts'

// Programs of tests import it from there: this file loads the whole service.
export { type RecordedLog, recordLog } from './texts/recorded-log.ts'

/** The real service on a real socket, with its own data folder. */
export interface Service {
  app: App
  url: string
  dataDir: string
  /** The first client's. */
  tokens: Tokens
  log: RecordedLog
  /** The number of requests that have arrived. */
  arrived(): number
  /** The storage of the services, so that tests can read it, and change it without the services' knowledge. */
  storage: Storage
  /** What its backend's bucket holds, see {@link Backend}. */
  objects(): Promise<string[]>
  /** Stops it, and removes its folder unless `keepData` is set. */
  stop(options?: { keepData: boolean }): Promise<void>
}

export interface ServiceOptions
  extends Partial<
    Pick<
      AppOptions,
      | 'engines'
      | 'wrapStorage'
      | 'root'
      | 'clientCacheTtlMs'
      | 'passwordCost'
      | 'programs'
      | 'idleCpu'
      | 'openPool'
    >
  > {
  /** Environment variables over the defaults. */
  env?: Readonly<Record<string, string>>
  /** A folder that an earlier service has left. */
  dataDir?: string
  /** The backend of files and index. Default: on disk, embedded. */
  backend?: Backend
}

/**
 * Environment of services in tests. The default reserve of 32 MiB takes a fifth of the CPU time of a start. On a busy machine, a test may send nothing
 * of a body for seconds.
 */
export const TEST_DEFAULTS = { DISK_RESERVE_BYTES: String(1024 * 1024), UPLOAD_MIN_BYTES_PER_SECOND: '0' }

// Each sign-in with the usual cost takes 0.2 s of CPU time.
const SMALL_COST = { N: 1024, r: 8, p: 1 }

export const PROJECT = join(import.meta.dirname, '..', '..')

export async function startService({
  env = {},
  dataDir,
  root = PROJECT,
  wrapStorage = (storage) => storage,
  backend = EMBEDDED,
  ...options
}: ServiceOptions = {}): Promise<Service> {
  const folder = dataDir ?? (await temporaryFolder())
  const environment = { ...TEST_DEFAULTS, ...(await backend.env(folder)), ...env, DATA_DIR: folder }
  const config = loadConfig(environment)
  const log = recordLog()
  let handle: RequestListener | undefined
  let arrived = 0
  const responses = watchResponses()
  const messages = messageClasses()
  const listener: RequestListener = (req, res) => {
    arrived += 1
    responses.watch(req, res)
    handle?.(req, res)
  }
  const server = createWebServer(config, listener, messages)
  const port = await listen(server)
  const url = `http://127.0.0.1:${port}`
  let storage: Storage | undefined
  const app = await createApp({
    config,
    root,
    baseUrl: url,
    log,
    programs: installedPrograms(),
    openPool: openSharedPool,
    passwordCost: SMALL_COST,
    messages,
    wrapStorage: (inner) => {
      storage = inner
      return wrapStorage(inner)
    },
    ...options,
  }).catch(async (error) => {
    server.close()
    if (dataDir === undefined) await rm(folder, { recursive: true, force: true })
    throw error
  })
  if (!storage) throw new Error('the app has not asked for its storage')
  handle = app.handle
  app.handleParseErrors(server)
  const { clientToken, secretClientToken } = app.credentials
  const secrets = { ...environment, SECRET_CLIENT_TOKEN: secretClientToken }
  return {
    app,
    url,
    dataDir: folder,
    tokens: { clientToken, secretClientToken },
    log,
    arrived: () => arrived,
    storage,
    objects: () => backend.objects(folder),
    async stop({ keepData } = { keepData: false }) {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await app.close()
      if (!keepData) await rm(folder, { recursive: true, force: true })
      expect(responses.failures(), 'src/http/documents describes these responses').to.deep.equal([])
      expectDocumentedProblems(log.lines)
      expectNoSecrets(inspect(log.lines, { depth: 20, maxArrayLength: null }), secrets)
    },
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}
