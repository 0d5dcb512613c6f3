import { createHash } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { DeleteObjectsCommand, HeadBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { checkLiteral, guardedLookup, type IsRefused } from './guard.ts'
import { createPatience, type Patience } from './patience.ts'
import { refusePages } from './response.ts'

/**
 * Connection to S3. The SDK finds omitted values itself: in its
 * environment variables, its files, or the role of the machine.
 */
export interface S3ConnectionOptions {
  /** The URL of an S3-compatible store: `https://storage.example`. */
  endpoint?: string | undefined
  region?: string | undefined
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined
  /** The profile of AWS's configuration files that has the credentials. Default: AWS_PROFILE. */
  profile?: string | undefined
  /** Puts the bucket into the path instead of the host name. Most stores other than Amazon's need it. */
  forcePathStyle: boolean
  /** The URL by which clients reach the store, when it differs from `endpoint`. */
  directEndpoint?: string | undefined
  /** How long the store may be silent, in milliseconds: from 1000 to 15,000. Default: 3500. */
  silenceMs?: number | undefined
  /** Returns true for IP addresses that must never be connected to, whatever name resolves to them. */
  isRefused?: IsRefused | undefined
}

/** One client for each kind of traffic, so that no kind waits for the connections of another. */
export interface S3Clients {
  /** Requests and responses of a few kilobytes. */
  calls: S3Client
  /** Copies within S3. Each takes seconds to minutes, for which S3 holds its response back. */
  copies: S3Client
  /** Request bodies. */
  uploads: S3Client
  /** Response bodies. They are read as slowly as their readers consume them. */
  downloads: S3Client
  /** Signs URLs for others, and sends nothing. */
  signer: S3Client
  /** Shared by all clients: an outage that one of them detects shortens the time limits of the others. */
  patience: Patience
}

// The part of the time of silence that is left for the response after connecting. By default 2.5 s remain to connect: a lost SYN is sent again after 1 s.
const REQUEST_MS = 1000
// One try and two retries. The pauses are at most 50 ms and 100 ms, or 1 s and 2 s when S3 throttles.
const ATTEMPTS = 3
// Calls are short, so the queue moves. More concurrent calls would only be a burst that S3 throttles.
const CALLS_AT_ONCE = 256
// Connections are reused only while load balancers and NAT devices on the path still know them.
const IDLE_CONNECTIONS = 64
const IDLE_CONNECTION_MS = 30_000

/** The clients of one process. They connect on first use. @throws Problem 503 for a refused address */
export function s3Clients(options: S3ConnectionOptions): S3Clients {
  const { isRefused } = options
  const patience = createPatience(options.silenceMs)
  const connectMs = Math.max(REQUEST_MS, patience.silenceMs - REQUEST_MS)
  if (isRefused) checkLiteral(options.endpoint, isRefused)
  const client = (atOnce: number) => {
    const made = new S3Client({
      ...clientConfig(options),
      requestHandler: connections(atOnce, { isRefused, connectMs }),
    })
    refusePages(made)
    return made
  }
  const calls = client(CALLS_AT_ONCE)
  addContentMd5(calls)
  // The process limits its transfers itself. A limit here would let slow readers block all others.
  return {
    ...{ calls, copies: client(Infinity), uploads: client(Infinity), downloads: client(Infinity) },
    signer: new S3Client(clientConfig({ ...options, endpoint: options.directEndpoint ?? options.endpoint })),
    patience,
  }
}

/**
 * The address of a bucket as the SDK would use it. Endpoint and region may come from any source of the SDK, and the
 * bucket is in the host name or in the path.
 *
 * @returns a URL without a trailing slash
 * @throws Error of the SDK when its configuration has no region, or the name of the bucket is invalid
 */
export async function bucketAddress(bucket: string, options: S3ConnectionOptions): Promise<string> {
  let address: string | undefined
  const client = new S3Client({
    ...clientConfig(options),
    // No request is sent, so any credentials will do.
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

export function clientConfig({
  endpoint,
  region,
  credentials,
  profile,
  forcePathStyle,
}: S3ConnectionOptions): S3ClientConfig {
  return {
    ...(endpoint ? { endpoint } : {}),
    ...(region ? { region } : {}),
    ...(credentials ? { credentials } : {}),
    ...(profile === undefined ? {} : { profile }),
    forcePathStyle,
    maxAttempts: ATTEMPTS,
    retryMode: 'standard',
    // The SDK adds checksums by default that most S3-compatible stores do not support yet.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // "Expect: 100-continue" before a part saves nothing, and not every store answers it.
    expectContinueHeader: false,
  }
}

function connections(
  maxSockets: number,
  { isRefused, connectMs }: { isRefused: IsRefused | undefined; connectMs: number },
): NodeHttpHandler {
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
    connectionTimeout: connectMs,
  })
}

/** DeleteObjects must have a checksum. MD5 is the only one that older stores support. */
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
