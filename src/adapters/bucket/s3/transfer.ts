import { Readable } from 'node:stream'
import type { PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3'
import { anySignal } from '../../../core/async/any-signal.ts'
import { unavailable } from '../../../core/problem.ts'
import type { S3Clients } from './client.ts'
import type { Watch } from './patience.ts'

const SLICE_BYTES = 64 * 1024

/**
 * Sends a part, or an object that has one part only. It may take any time while bytes move. When they stop for
 * `silenceMs`, it fails. Node alone would detect this after twice that time, and the SDK would then retry twice.
 */
export async function transfer(
  { uploads, patience }: S3Clients,
  sent: UploadPartCommand | PutObjectCommand,
  signal?: AbortSignal,
): Promise<unknown> {
  // The two commands differ only in ways that do not matter here.
  const command = sent as UploadPartCommand
  const watch = patience.watch()
  command.middlewareStack.add(
    (next) => (args) => {
      const { request } = args as { request: { body?: unknown } }
      const body = request.body instanceof Uint8Array ? inSlices(request.body, watch) : request.body
      return next({ ...args, request: { ...request, body } })
    },
    // After the retry step, which needs the whole body again, and after the signature, which covers the body.
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
 * Checks the response to a put. A captive portal or a wrong endpoint may answer 200 with a page, but every S3 store
 * sends an ETag.
 * @throws Problem 503 when the response has no ETag
 */
export function confirmed<T extends { ETag?: string | undefined }>(output: T): T {
  if (output.ETag === undefined)
    throw unavailable(
      'The bucket responded to a PUT without an ETag. AWS_ENDPOINT_URL_S3 may not be an S3 store.',
    )
  return output
}

function inSlices(body: Uint8Array, watch: Watch): Readable {
  function* slices() {
    for (let start = 0; start < body.length; start += SLICE_BYTES) {
      // A request for a slice means that the slices before it were sent. Only the first two fit into buffers on this side.
      if (start > SLICE_BYTES) watch.moved()
      yield body.subarray(start, start + SLICE_BYTES)
    }
  }
  return Readable.from(slices(), { objectMode: false, highWaterMark: SLICE_BYTES })
}
