import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { type Service, startService } from '../service.ts'
import { withClock } from '../stored/clock.ts'
import { filesInBucket, type State } from '../stored/state.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { envOn, rowsIn, waitingForLocks } from './on-redis.ts'
import { objectsInS3, s3Env } from './on-s3.ts'
import { type Running, type RunningServer, run, type Start, startProcess } from './process.ts'
import { type AnyRedis, startRedis } from './redis-server.ts'
import type { S3Server } from './s3-server.ts'

/** What web processes share: their own Redis, and their own place in S3 or on disk. */
export interface Fleet {
  redis: AnyRedis
  /** Of all its processes. */
  env: Readonly<Record<string, string>>
  /** Starts a process of the built server, or of another script, and waits until it answers. */
  start(options?: Start): Promise<RunningServer>
  /** Starts a service in this process, for a tenth of the CPU time: where it does not matter in which process it runs. */
  service(): Promise<Service>
  /** Starts a process that may not come to answer. */
  run(options?: Start): Running
  /** All stored objects and index entries. */
  state(): Promise<State>
  /** How many processes wait for locks that others hold. */
  waiting(): Promise<number>
  /**
   * Cleans up abandoned work, as the sweep of a process would do it some time later: by default after the end of all
   * current leases.
   */
  sweptLater(ms?: number): Promise<void>
  /** Ends what still runs of it and removes its data folder. */
  end(): Promise<void>
}

export interface FleetOptions {
  files?: 'disk' | 'S3'
  /** Instead of the server that all tests share. */
  s3?: S3Server
  /** Where S3 is reached, when not straight. */
  endpoint?: string
  /** Starts the Redis. Default: one server, which writes nothing to its disk. */
  redis?: () => Promise<AnyRedis>
  /** More of the environment, of all processes. */
  env?: Readonly<Record<string, string>>
}

// A derivative's deadline: waiting, rendering and storing, half a minute each, and some grace.
const LONGEST_LEASE_MS = 105_000

export async function newFleet({
  files = 'S3',
  s3,
  endpoint,
  redis: startsRedis = () => startRedis(),
  env: more = {},
}: FleetOptions = {}): Promise<Fleet> {
  const redis = await startsRedis()
  const folder = await temporaryFolder()
  const prefix = basename(folder)
  const env = {
    DATA_DIR: folder,
    ...envOn(redis.url),
    ...(files === 'S3' ? await s3Env(prefix, s3) : {}),
    ...(endpoint ? { AWS_ENDPOINT_URL_S3: endpoint } : {}),
    ...more,
  }
  const running = new Set<Running>()
  const services = new Set<Service>()
  return {
    redis,
    env,
    async start(options = {}) {
      const server = await startProcess({ ...options, env: { ...env, ...options.env } })
      running.add(server)
      return server
    },
    async service() {
      const service = await startService({ env, dataDir: folder })
      services.add(service)
      return service
    },
    run(options = {}) {
      const process = run({ ...options, env: { PORT: '0', ...env, ...options.env } })
      running.add(process)
      return process
    },
    state: async () => ({
      files: files === 'S3' ? await objectsInS3(prefix, s3) : await filesInBucket(folder),
      rows: await rowsIn(redis.url),
    }),
    waiting: () => waitingForLocks(redis.url),
    async sweptLater(ms = LONGEST_LEASE_MS) {
      const service = await startService({ env, dataDir: folder, wrapStorage: withClock({ aheadMs: ms }) })
      await service.app.sweep()
      await service.stop({ keepData: true })
    },
    async end() {
      for (const { child, ended } of running) {
        child.kill('SIGKILL')
        await ended
      }
      const stopped = await Promise.allSettled(
        [...services].map((service) => service.stop({ keepData: true })),
      )
      await redis.remove()
      await rm(folder, { recursive: true, force: true })
      for (const outcome of stopped) if (outcome.status === 'rejected') throw outcome.reason
    },
  }
}
