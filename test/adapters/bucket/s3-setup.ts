import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutBucketAclCommand } from '@aws-sdk/client-s3'
import { type S3BucketOptions, s3Buckets } from '../../../src/adapters/bucket/s3/s3.ts'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { derivativeKey, type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket, Buckets, PutOptions } from '../../../src/core/ports/bucket.ts'
import { type S3Proxy, s3Proxy } from '../../support/servers/s3-proxy.ts'
import { type S3Server, s3Server } from '../../support/servers/s3-server.ts'

export const MIB = 1024 * 1024
/** As in the adapter: as much as is put in one request. */
export const PART = 8 * MIB

export const KEY = storedKey('a/b/image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
export const BESIDE = derivativeKey(KEY, 'w=100')
export const VIDEO = storedKey('video/mp4/7uLqEUXG4WpoGGa38h2U9Z.mp4')

/** An empty bucket on a real server, behind a proxy that passes everything on by default. */
export interface S3Setup {
  server: S3Server
  proxy: S3Proxy
  /** The bucket's name. */
  name: string
  buckets: Buckets
  /** The first client's. */
  bucket: Bucket
  /** The adapter once more, with other options. */
  open(options?: Partial<S3BucketOptions>): Promise<Buckets>
  /**
   * Puts a small object under each of `keys`, past the proxy, without the SDK, which takes milliseconds for each. From then on anyone
   * may write into the bucket.
   */
  fill(client: Parameters<Buckets['of']>[0], keys: readonly ObjectKey[]): Promise<void>
  /** What is in the bucket, sorted. */
  names(): Promise<string[]>
  /** The names under which multipart uploads are open. */
  openUploads(): Promise<string[]>
}

/** The time limits of S3 as an operator has them: those of tests are longer, since a busy machine is slow. */
export const USUAL = { silenceMs: undefined } satisfies Partial<S3BucketOptions>

/** Prepares each test of a suite. The fields are there when the test runs. @param server on which the buckets are */
export function onS3(server: () => Promise<S3Server> = s3Server): S3Setup {
  const setup = {} as S3Setup
  before(async () => {
    setup.server = await server()
    setup.proxy = await s3Proxy(setup.server.connection.endpoint)
  })
  after(() => setup.proxy.close())
  beforeEach(async () => {
    const { server, proxy } = setup
    proxy.decide(() => undefined)
    proxy.seen.length = 0
    setup.name = await server.newBucket()
    setup.open = (options = {}) =>
      s3Buckets({
        ...server.connection,
        endpoint: proxy.endpoint,
        bucket: setup.name,
        prefix: '',
        ...options,
      })
    setup.fill = async (client, keys) => {
      const bucket = (await setup.open({ endpoint: server.connection.endpoint })).of(client)
      await server.client.send(new PutBucketAclCommand({ Bucket: setup.name, ACL: 'public-read-write' }))
      const agent = new Agent({ keepAlive: true })
      await forEach(keys, (key) => putPlainly(bucket.urlOf(key), agent))
      agent.destroy()
    }
    setup.names = () => namesIn(server, setup.name)
    setup.openUploads = () => openUploadsIn(server, setup.name)
    setup.buckets = await setup.open()
    setup.bucket = setup.buckets.of({ id: FIRST_CLIENT_ID, token: '' })
  })
  return setup
}

async function putPlainly(url: string, agent: Agent): Promise<void> {
  const [response] = (await once(
    request(url, { method: 'PUT', agent, headers: { 'content-length': '1' } }).end('x'),
    'response',
  )) as [IncomingMessage]
  await once(response.resume(), 'end')
  if (response.statusCode !== 200) throw new Error(`S3 responded ${response.statusCode} to ${url}`)
}

export async function openUploadsIn({ client }: S3Server, bucket: string): Promise<string[]> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
  return Uploads.map(({ Key = '' }) => Key).sort()
}

async function namesIn({ client }: S3Server, bucket: string): Promise<string[]> {
  const names: string[] = []
  let ContinuationToken: string | undefined
  do {
    const page = await client.send(new ListObjectsV2Command({ Bucket: bucket, ContinuationToken }))
    names.push(...(page.Contents ?? []).map(({ Key = '' }) => Key))
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken)
  return names.sort()
}

export async function put(
  bucket: Bucket,
  key: ObjectKey,
  bytes: string | Readable,
  options: Partial<PutOptions> = {},
): Promise<void> {
  const source = typeof bytes === 'string' ? Readable.from([Buffer.from(bytes)]) : bytes
  await bucket.put(key, source, { mediaType: 'image/png', ...options })
}

export async function text(bucket: Bucket, key: ObjectKey): Promise<string | undefined> {
  const asset = await bucket.find(key)
  if (!asset) return undefined
  const chunks: Buffer[] = []
  for await (const chunk of await asset.open()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export async function listed(bucket: Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const key of bucket.list(prefix)) keys.push(key)
  return keys.sort()
}

/** Does `work` for all, some at a time. */
export async function forEach<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items.values()
  const one = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: 32 }, one))
}

/** So many bytes of which no two megabytes are equal, in pieces of 64 KiB, and what they were when all are read. */
export function bytesOf(size: number, { atEnd }: { atEnd?: () => void } = {}) {
  const sent = createHash('sha256')
  let left = size
  const source = new Readable({
    read() {
      if (left === 0) {
        if (atEnd) atEnd()
        else this.push(null)
        return
      }
      const piece = Buffer.alloc(Math.min(left, 64 * 1024), String(left))
      left -= piece.length
      sent.update(piece)
      this.push(piece)
    },
  })
  return { source, digest: () => sent.digest('hex') }
}

export async function digestOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const received = createHash('sha256')
  for await (const chunk of stream) received.update(chunk)
  return received.digest('hex')
}
