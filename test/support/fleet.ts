import { rm } from 'node:fs/promises'
import { ListMultipartUploadsCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3'
import type { Redis } from 'ioredis'
import { connectRedis } from '../../src/adapters/redis-connection.ts'
import type { Storage } from '../../src/app.ts'
import { type Running, type RunningServer, run, type Start, startProcess } from './process.ts'
import { type RedisServer, type RedisServerOptions, startRedis } from './redis-server.ts'
import { s3Server } from './s3-server.ts'
import { startService } from './service.ts'
import { filesInBucket } from './state.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** What web processes share: a Redis of their own, and a bucket of their own in S3 or on disk. */
export interface Fleet {
  redis: RedisServer
  /** Of all its processes. */
  env: Readonly<Record<string, string>>
  /** Starts a process of the built server, or of another script, and waits until it answers. */
  start(options?: Start): Promise<RunningServer>
  /** Starts a process that may not come to answer. */
  run(options?: Start): Running
  /** Every object, sorted: `<client id>/<key>`, and the half written ones; without the clients' own records. */
  objects(): Promise<string[]>
  /** The index, sorted: `<client id>/<key> <state>`, `<client id>/<key>_<variant> <state>`. */
  entries(): Promise<string[]>
  /** How many processes wait for locks that others hold. */
  waiting(): Promise<number>
  /**
   * Ends what nobody works on: does what a process would do at its sweep in some time, by default when each lease of
   * now is over.
   */
  sweptLater(ms?: number): Promise<void>
  /** Kills what still runs of it and removes its data folder. */
  end(): Promise<void>
}

export interface FleetOptions {
  files?: 'disk' | 'S3'
  /** Where S3 is reached, when not straight. */
  endpoint?: string
  redis?: RedisServerOptions
  /** More of the environment, of all processes. */
  env?: Readonly<Record<string, string>>
}

// A derivative's deadline: waiting, rendering and storing, half a minute each, and some grace.
const LONGEST_LEASE_MS = 105_000

export async function newFleet({
  files = 'S3',
  endpoint,
  redis: redisOptions,
  env: more = {},
}: FleetOptions = {}): Promise<Fleet> {
  const redis = await startRedis(redisOptions)
  const folder = await temporaryFolder()
  const place = files === 'S3' ? await inS3(endpoint) : { env: {}, objects: () => filesInBucket(folder) }
  const env = {
    DATA_DIR: folder,
    REDIS_URL: redis.url,
    CLIENT_TOKEN: 'pub_of_all_processes',
    SECRET_CLIENT_TOKEN: 'sec_of_all_processes',
    ...place.env,
    ...more,
  }
  const running = new Set<Running>()
  return {
    redis,
    env,
    async start(options = {}) {
      const server = await startProcess({ ...options, env: { ...env, ...options.env } })
      running.add(server)
      return server
    },
    run(options = {}) {
      const process = run({ ...options, env: { PORT: '0', ...env, ...options.env } })
      running.add(process)
      return process
    },
    objects: place.objects,
    entries: () => inRedis(redis.url, indexEntries),
    waiting: () =>
      inRedis(redis.url, async (client) => {
        let count = 0
        for (const name of await client.keys('{sluice}:lock:*:waiters')) count += await client.zcard(name)
        return count
      }),
    async sweptLater(ms = LONGEST_LEASE_MS) {
      const service = await startService({ env, dataDir: folder, wrapStorage: later(ms) })
      await service.app.sweep()
      await service.stop({ keepData: true })
    },
    async end() {
      for (const { child, ended } of running) {
        child.kill('SIGKILL')
        await ended
      }
      await redis.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A storage whose index takes the time to be later than it is. */
function later(ms: number): (storage: Storage) => Storage {
  return ({ buckets, index }) => ({
    buckets,
    index: {
      ...index,
      overdue: (now) => index.overdue(now + ms),
      beginRemoval: (ref, options) => index.beginRemoval(ref, { ...options, now: options.now + ms }),
      finishRemoval: (ref, now) => index.finishRemoval(ref, now + ms),
    },
  })
}

async function inS3(through: string | undefined) {
  const { client, connection, newBucket } = await s3Server()
  const { endpoint, region, credentials } = connection
  const Bucket = await newBucket()
  return {
    env: {
      S3_BUCKET: Bucket,
      S3_FORCE_PATH_STYLE: 'true',
      AWS_ENDPOINT_URL_S3: through ?? endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    async objects() {
      const names: string[] = []
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket }))
        names.push(...Contents.map(({ Key = '' }) => nameInS3(Key)))
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }))
      names.push(...Uploads.map(({ Key = '' }) => `half of ${nameInS3(Key)}`))
      return names.filter((name) => !/^[^/]+\/\.sluice\/clients\//.test(name)).sort()
    },
  }
}

/** The first client's root is all that is not below `.sluice/roots/<client id>/`. */
function nameInS3(name: string): string {
  const others = '.sluice/roots/'
  return name.startsWith(others) ? name.slice(others.length) : `first/${name}`
}

async function indexEntries(client: Redis): Promise<string[]> {
  const entries: string[] = []
  for (const name of await client.keys('{sluice}:file:*')) {
    const ref = name.slice('{sluice}:file:'.length)
    const clientId = ref.slice(0, ref.indexOf('/'))
    for (const [field, entry] of Object.entries(await client.hgetall(name)))
      entries.push(`${field === '' ? ref : `${clientId}/${field}`} ${entry.split(' ')[0]}`)
  }
  return entries.sort()
}

async function inRedis<T>(url: string, look: (client: Redis) => Promise<T>): Promise<T> {
  const redis = connectRedis({ url })
  try {
    await redis.ready()
    return await look(redis.client)
  } finally {
    await redis.close()
  }
}
