import {
  DeleteBucketCorsCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  PutBucketCorsCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3'
import { type S3Server, s3Server } from './s3-server.ts'

// What a service keeps in the S3 server of this run, as ../support/backends.ts has it: a prefix for each data folder.

const buckets = new WeakMap<S3Server, Promise<string>>()

/** The bucket of a server that all services share. */
function sharedBucket(server: S3Server): Promise<string> {
  const bucket = buckets.get(server) ?? server.newBucket()
  buckets.set(server, bucket)
  return bucket
}

/** The environment of a service below this prefix of a bucket that all of them share. */
export async function s3Env(prefix: string, own?: S3Server) {
  const server = own ?? (await s3Server())
  const { endpoint, region, credentials, silenceMs } = server.connection
  return {
    S3_BUCKET: await sharedBucket(server),
    S3_PREFIX: prefix,
    S3_FORCE_PATH_STYLE: 'true',
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(silenceMs === undefined ? {} : { S3_TIMEOUT_MS: String(silenceMs) }),
  }
}

/** Sets the documented CORS rule of the bucket that all services share. @returns a function that removes it */
export async function allowOrigin(origin: string): Promise<() => Promise<unknown>> {
  const { client } = await s3Server()
  const { S3_BUCKET: Bucket } = await s3Env('')
  const rule = {
    AllowedMethods: ['PUT'],
    AllowedOrigins: [origin],
    AllowedHeaders: ['content-type'],
    MaxAgeSeconds: 3600,
  }
  await client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }))
  return () => client.send(new DeleteBucketCorsCommand({ Bucket }))
}

/** Every object, sorted, named as files of a disk are; and the half written ones. */
export async function objectsInS3(prefix: string, own?: S3Server): Promise<string[]> {
  const server = own ?? (await s3Server())
  const { client } = server
  const Bucket = await sharedBucket(server)
  const { Uploads = [] } = await client.send(
    new ListMultipartUploadsCommand({ Bucket, Prefix: `${prefix}/` }),
  )
  const names = [
    ...(await keysInS3(prefix, server)).map((key) => nameInS3(key, prefix)),
    ...Uploads.map(({ Key = '' }) => `half of ${nameInS3(Key, prefix)}`),
  ]
  return names.filter((name) => !/^[^/]+\/\.sluice\/clients\//.test(name)).sort()
}

/** Objects that hold this text, the clients' records among them. */
export async function s3Holding(prefix: string, text: string): Promise<string[]> {
  const server = await s3Server()
  const { client } = server
  const Bucket = await sharedBucket(server)
  const found: string[] = []
  for (const Key of await keysInS3(prefix, server)) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
    if (Buffer.from((await Body?.transformToByteArray()) ?? []).includes(text)) found.push(Key)
  }
  return found
}

async function keysInS3(prefix: string, server: S3Server): Promise<string[]> {
  const { client } = server
  const Bucket = await sharedBucket(server)
  const keys: string[] = []
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix: `${prefix}/` }))
    keys.push(...Contents.map(({ Key = '' }) => Key))
  return keys
}

/** The first client's root is all that is not below `.sluice/roots/<client id>/`. */
function nameInS3(key: string, prefix: string): string {
  const name = key.slice(prefix.length + 1)
  const others = '.sluice/roots/'
  return name.startsWith(others) ? name.slice(others.length) : `first/${name}`
}
