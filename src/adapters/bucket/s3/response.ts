import { Readable } from 'node:stream'
import {
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3'
import { type Problem, unavailable } from '../../../core/problem.ts'

// The root elements of responses that would read as success or as an
// empty list when the root is another one: the SDK ignores its name.
const ROOTS: ReadonlyMap<string, string> = new Map([
  [DeleteObjectsCommand.name, 'DeleteResult'],
  [ListObjectsV2Command.name, 'ListBucketResult'],
  [ListMultipartUploadsCommand.name, 'ListMultipartUploadsResult'],
  [CreateMultipartUploadCommand.name, 'InitiateMultipartUploadResult'],
])
const WITH_ETAG: ReadonlySet<string> = new Set([HeadObjectCommand.name, GetObjectCommand.name])
// A list of a thousand names, of 1 KiB each and URL-encoded, is 3 MB.
const MAX_BYTES = 8 * 1024 * 1024
const ROOT = /^\ufeff?\s*(?:<\?[^>]*\?>\s*)?<(?:\w+:)?(\w+)[\s/>]/

interface RawResponse {
  statusCode: number
  headers: Record<string, string>
  body: Readable
}

/**
 * Rejects successful responses that do not come from an S3 store. A captive portal or
 * a wrong endpoint answers 200 with an HTML page. Such requests fail with Problem
 * 503. Puts are checked by `confirmed`. A GET whose page has an ETag is not detected.
 */
export function refusePages(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next(args)
        const response = result.response as RawResponse
        // Error responses have other elements. The SDK reads them.
        if (response.statusCode >= 300) return result
        if (WITH_ETAG.has(commandName) && response.headers.etag === undefined) {
          response.body.destroy()
          throw notS3('without an ETag')
        }
        const root = ROOTS.get(commandName)
        if (root === undefined) return result
        const bytes = await bytesOf(response.body)
        const found = ROOT.exec(bytes.toString('utf8', 0, 1024))?.[1]
        // An error with status 200 is passed to the SDK, which knows which errors to retry.
        if (found !== root && found !== 'Error') throw notS3(`without ${root}`)
        return { ...result, response: Object.assign(response, { body: Readable.from([bytes]) }) }
      },
    // This runs before the SDK parses the response.
    { step: 'deserialize', priority: 'low', name: 'refusePages' },
  )
}

async function bytesOf(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    // The exception leaves the loop, which closes the connection.
    if (length > MAX_BYTES) throw notS3(`of more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function notS3(what: string): Problem {
  return unavailable('The bucket sent a response that is not from S3.', {
    cause: new Error(`not an S3 store: it sent a success response ${what}`),
  })
}
