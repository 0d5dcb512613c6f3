import { createHash } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { DeleteObjectsCommand, HeadBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { refusePages } from './answer.ts'
import { checkLiteral, guardedLookup, type IsRefused } from './guard.ts'
import { createPatience, type Patience } from './patience.ts'

/** How S3 is reached. What is left out, the SDK looks for: in its environment variables, its files, the machine's role. */
export interface S3ConnectionOptions {
  /** Of an S3-compatible store: `https://storage.example`. */
  endpoint?: string | undefined
  region?: string | undefined
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined
  /** Bucket in the path instead of the host name; most stores other than Amazon's want it. */
  forcePathStyle: boolean
  /** IP addresses that are never connected to, whatever name resolves to them. */
  isRefused?: IsRefused | undefined
}

/** One client for each kind of traffic, so that none waits for the connections of another. */
export interface S3Clients {
  /** Requests and answers of a few kilobytes. */
  calls: S3Client
  /** Bodies that are sent. */
  uploads: S3Client
  /** Bodies that come, as slowly as their readers take them. */
  downloads: S3Client
  /** One for all: what one has found out about S3, the others know. */
  patience: Patience
}

// A lost SYN is sent again after 1 s: one may be lost.
const CONNECT_MS = 2500
// First and two more; the waits between are 50 ms and 100 ms at most, or 1 s and 2 s when S3 asks to slow down.
const ATTEMPTS = 3
// Calls end soon, so that a queue moves on; more at once would only be a burst that S3 turns away.
const CALLS_AT_ONCE = 256
// Kept open for the next request, as long as no balancer or NAT on the way forgets them.
const IDLE_CONNECTIONS = 64
const IDLE_CONNECTION_MS = 30_000

/** The clients of one process. They connect when they are first used. @throws Problem 503 for a refused address */
export function s3Clients(options: S3ConnectionOptions): S3Clients {
  const { isRefused } = options
  if (isRefused) checkLiteral(options.endpoint, isRefused)
  const client = (atOnce: number) => {
    const made = new S3Client({ ...clientConfig(options), requestHandler: connections(atOnce, isRefused) })
    refusePages(made)
    return made
  }
  const calls = client(CALLS_AT_ONCE)
  addContentMd5(calls)
  // Transfers are as many as this process has accepted: with a limit, slow readers would block all others.
  return { calls, uploads: client(Infinity), downloads: client(Infinity), patience: createPatience() }
}

/**
 * The address of a bucket as the SDK itself would use it: endpoint and region may come from any of its sources, and the
 * bucket stands in the host name or in the path.
 *
 * @returns without a slash at its end
 * @throws Error of the SDK when its configuration has no region, or the bucket's name is none
 */
export async function bucketAddress(bucket: string, options: S3ConnectionOptions): Promise<string> {
  let address: string | undefined
  const client = new S3Client({
    ...clientConfig(options),
    // Nothing is sent, so anything can sign it.
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    maxAttempts: 1,
    requestHandler: {
      async handle({ protocol, hostname, port, path }: Address) {
        address = `${protocol}//${hostname}${port ? `:${port}` : ''}${path.replace(/\/$/, '')}`
        throw new Error('only the address was needed')
      },
    },
  })
  await client.send(new HeadBucketCommand({ Bucket: bucket })).catch((error) => {
    if (address === undefined) throw error
  })
  return address ?? ''
}

interface Address {
  protocol: string
  hostname: string
  port?: number
  path: string
}

function clientConfig({
  endpoint,
  region,
  credentials,
  forcePathStyle,
}: S3ConnectionOptions): S3ClientConfig {
  return {
    ...(endpoint ? { endpoint } : {}),
    ...(region ? { region } : {}),
    ...(credentials ? { credentials } : {}),
    forcePathStyle,
    maxAttempts: ATTEMPTS,
    retryMode: 'standard',
    // The checksums that the SDK adds by default are newer than most S3-compatible stores.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Asking before a part is sent saves nothing, and not every store answers.
    expectContinueHeader: false,
  }
}

function connections(maxSockets: number, isRefused: IsRefused | undefined): NodeHttpHandler {
  const options = {
    ...(isRefused ? { lookup: guardedLookup(isRefused) } : {}),
    keepAlive: true,
    maxSockets,
    maxFreeSockets: IDLE_CONNECTIONS,
    timeout: IDLE_CONNECTION_MS,
  }
  return new NodeHttpHandler({
    httpAgent: new HttpAgent(options),
    httpsAgent: new HttpsAgent(options),
    connectionTimeout: CONNECT_MS,
  })
}

/** DeleteObjects must have a checksum, and this is the only one that older stores know. */
function addContentMd5(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const { request } = args as { request: { headers: Record<string, string>; body: string | Uint8Array } }
      if (context.commandName === DeleteObjectsCommand.name) {
        for (const name of Object.keys(request.headers))
          if (/^x-amz-(sdk-)?checksum-/i.test(name)) delete request.headers[name]
        request.headers['Content-MD5'] = createHash('md5').update(request.body).digest('base64')
      }
      return next(args)
    },
    { step: 'build', priority: 'low', name: 'addContentMd5' },
  )
}
