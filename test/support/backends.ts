import { ListMultipartUploadsCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3'
import { type Backend, EMBEDDED } from './backend.ts'
import { sharedRedis } from './redis-server.ts'
import { s3Server } from './s3-server.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'
import { filesInBucket } from './state.ts'

/** Starts the service on one choice of storage. */
export type StartService = (options?: ServiceOptions) => Promise<Service>

/**
 * A suite about what callers see, which is the same wherever files and states are kept. What it starts is stopped at
 * its end.
 */
export function onEveryBackend(name: string, suite: (start: StartService) => void): void {
  for (const backend of BACKENDS)
    describe(`${name} (${backend.name})`, () =>
      suite(stoppedAtTheEnd((options) => startService({ backend, ...options }))))
}

/** Of the suite that calls it: services that a test has stopped itself are left alone. */
export function stoppedAtTheEnd(start: StartService): StartService {
  const running = new Set<Service>()
  after(async () => {
    for (const service of running) await service.stop()
  })
  return async (options) => {
    const service = await start(options)
    running.add(service)
    return {
      ...service,
      async stop(stopOptions) {
        if (running.delete(service)) await service.stop(stopOptions)
      },
    }
  }
}

export const DISK_REDIS: Backend = { name: 'disk, Redis', env: redisEnv, objects: filesInBucket }
export const S3_EMBEDDED: Backend = { name: 'S3, embedded', env: s3Env, objects: objectsInS3 }
export const S3_REDIS: Backend = {
  name: 'S3, Redis',
  env: async (dataDir) => ({ ...(await redisEnv(dataDir)), ...(await s3Env(dataDir)) }),
  objects: objectsInS3,
}

/** All that make sense. */
export const BACKENDS: readonly Backend[] = [EMBEDDED, DISK_REDIS, S3_EMBEDDED, S3_REDIS]

// A number for each data folder: a database of Redis, a prefix of S3.
const numbers = new Map<string, number>()
const numberOf = (dataDir: string): number => {
  const number = numbers.get(dataDir) ?? numbers.size + 1
  numbers.set(dataDir, number)
  return number
}

async function redisEnv(dataDir: string): Promise<Record<string, string>> {
  const { url } = await sharedRedis()
  return {
    REDIS_URL: `${url}/${numberOf(dataDir)}`,
    CLIENT_TOKEN: 'pub_of_all_processes',
    SECRET_CLIENT_TOKEN: 'sec_of_all_processes',
  }
}

let bucket: Promise<string> | undefined

async function s3Env(dataDir: string): Promise<Record<string, string>> {
  const server = await s3Server()
  bucket ??= server.newBucket()
  const { endpoint, region, credentials } = server.connection
  return {
    S3_BUCKET: await bucket,
    S3_PREFIX: `service-${numberOf(dataDir)}`,
    S3_FORCE_PATH_STYLE: 'true',
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
}

async function objectsInS3(dataDir: string): Promise<string[]> {
  const { client } = await s3Server()
  const { S3_BUCKET: Bucket = '', S3_PREFIX } = await s3Env(dataDir)
  const Prefix = `${S3_PREFIX}/`
  const names: string[] = []
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix }))
    names.push(...Contents.map(({ Key = '' }) => nameInS3(Key.slice(Prefix.length))))
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }))
  names.push(...Uploads.map(({ Key = '' }) => `half of ${nameInS3(Key.slice(Prefix.length))}`))
  return names.filter((name) => !/^[^/]+\/\.sluice\/clients\//.test(name)).sort()
}

/** The first client's root is all that is not below `.sluice/roots/<client id>/`. */
function nameInS3(name: string): string {
  const others = '.sluice/roots/'
  return name.startsWith(others) ? name.slice(others.length) : `first/${name}`
}
