import { addAbortSignal, finished, Readable } from 'node:stream'
import { GetObjectCommand, S3ServiceException } from '@aws-sdk/client-s3'
import type { OpenOptions } from '../../../core/bytes/asset.ts'
import { ChangedObject } from '../../../core/ports/bucket.ts'
import { unavailable } from '../../../core/problem.ts'
import type { S3Clients } from './client.ts'
import type { Patience } from './patience.ts'

// The size in which Node reads from a socket.
const CHUNK_BYTES = 64 * 1024

/**
 * The bytes of an object. Resolves when S3 has begun to send them. The stream fails when S3 closes the connection early or
 * stops sending. Destroying the stream closes its connection.
 *
 * @param options.etag the ETag of the object that `range` refers to
 * @param options.size of the object, if it is known
 * @throws Problem 404 when the object does not exist, 503; ChangedObject when it has another size
 */
export async function download(
  { downloads, patience }: S3Clients,
  {
    bucket,
    name,
    etag,
    size,
    range,
    signal,
    newPiece,
  }: { bucket: string; name: string; etag?: string | undefined; size?: number } & OpenOptions,
): Promise<Readable> {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: name,
    ...(range ? { Range: `bytes=${range.start}-${range.end}`, IfMatch: etag } : {}),
  })
  const { Body, ContentLength, ContentRange } = await patience
    .responseOf((abortSignal) => downloads.send(command, { abortSignal }), { signal })
    .catch((error) => {
      // The range begins after the end of the object.
      if (size !== undefined && range && isInvalidRange(error)) throw new ChangedObject(range.start)
      throw error
    })
  const stream = withSilenceTimeout(Body as Readable, patience, { highWaterMark: newPiece ? 0 : CHUNK_BYTES })
  const total = range ? Number(ContentRange?.split('/')[1]) : ContentLength
  if (size !== undefined && isKnown(total) && total !== size) {
    stream.destroy()
    throw new ChangedObject(total)
  }
  if (range && !ContentRange?.startsWith(`bytes ${range.start}-${range.end}/`)) {
    stream.destroy()
    throw unavailable('The bucket sent a different range than requested.')
  }
  return signal ? addAbortSignal(signal, stream) : stream
}

/** A server may state a total of `*`: RFC 9110, section 14.4. */
function isKnown(total: number | undefined): total is number {
  return Number.isInteger(total)
}

function isInvalidRange({ cause }: Error): boolean {
  return cause instanceof S3ServiceException && cause.name === 'InvalidRange'
}

/** The time limit runs only while a chunk is awaited: a reader may pause as long as it likes. */
function withSilenceTimeout(
  body: Readable,
  { silenceMs }: Patience,
  { highWaterMark }: { highWaterMark: number },
): Readable {
  let silence: NodeJS.Timeout | undefined
  const stream = new Readable({
    highWaterMark,
    read() {
      silence = setTimeout(() => body.destroy(new Error(`no bytes for ${silenceMs} ms`)), silenceMs)
      body.resume()
    },
    destroy(error, done) {
      clearTimeout(silence)
      body.destroy()
      done(error)
    },
  })
  body.pause().on('data', (chunk) => {
    clearTimeout(silence)
    body.pause()
    // `push` calls `read` again when the buffer has room.
    stream.push(chunk)
  })
  finished(body, (cause) => {
    clearTimeout(silence)
    if (cause)
      stream.destroy(unavailable('The bucket closed the connection in the middle of a file.', { cause }))
    else stream.push(null)
  })
  return stream
}
