import { Readable } from 'node:stream'
import type { PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3'
import { anySignal } from '../../../core/async/any-signal.ts'
import { unavailable } from '../../../core/problem.ts'
import type { S3Clients } from './client.ts'
import type { Watch } from './patience.ts'

const SLICE_BYTES = 64 * 1024

/**
 * Sends a part, or an object that is one. It may take as long as it likes while its bytes move; when they do not, it
 * fails, although Node would call it idle only after twice that time, and the SDK try it twice more.
 */
export async function transfer(
  { uploads, patience }: S3Clients,
  sent: UploadPartCommand | PutObjectCommand,
  signal?: AbortSignal,
): Promise<unknown> {
  // What differs between the two does not matter here.
  const command = sent as UploadPartCommand
  const watch = patience.watch()
  command.middlewareStack.add(
    (next) => (args) => {
      const { request } = args as { request: { body?: unknown } }
      const body = request.body instanceof Uint8Array ? inSlices(request.body, watch) : request.body
      return next({ ...args, request: { ...request, body } })
    },
    // Behind the retries, which need the whole body again, and behind the signature over it.
    { step: 'finalizeRequest', priority: 'low', name: 'watchBody' },
  )
  const joined = anySignal(signal ? [signal, watch.signal] : [watch.signal])
  try {
    return confirmed(await uploads.send(command, { abortSignal: joined.signal }))
  } finally {
    watch.stop()
    joined.leave()
  }
}

/**
 * Checks the answer to a put. A captive portal or a wrong endpoint may answer 200 with a page, but every S3 store sends an ETag.
 * @throws Problem 503
 */
export function confirmed<T extends { ETag?: string | undefined }>(answer: T): T {
  if (answer.ETag === undefined)
    throw unavailable(
      'The bucket responded to a PUT without an ETag. AWS_ENDPOINT_URL_S3 may not be an S3 store.',
    )
  return answer
}

function inSlices(body: Uint8Array, watch: Watch): Readable {
  function* slices() {
    for (let start = 0; start < body.length; start += SLICE_BYTES) {
      // Whoever takes one has got rid of those before; only the first two fit into buffers on this side.
      if (start > SLICE_BYTES) watch.moved()
      yield body.subarray(start, start + SLICE_BYTES)
    }
  }
  return Readable.from(slices(), { objectMode: false, highWaterMark: SLICE_BYTES })
}
