import { Transform } from 'node:stream'
import type { Request } from 'express'
import { Problem, unsupportedMediaType } from '../../core/problem.ts'
import { bodyDigests } from '../body/digests.ts'
import { watchRate } from '../body/min-rate.ts'
import type { FilePart } from './multipart.ts'

/**
 * A request's body as one file. Its media type is ignored: the type is detected from the bytes.
 *
 * @throws Problem 400 for a part of a file, or bytes that do not match a digest in a header, 415 for a compressed one, 408 for a client that is too slow
 */
export async function* rawFile(
  req: Request,
  { name, minBytesPerSecond, signal }: { name: string; minBytesPerSecond: number; signal: AbortSignal },
): AsyncGenerator<FilePart> {
  signal.throwIfAborted()
  const { 'content-range': range, 'content-encoding': encoding } = req.headers
  // RFC 9110 section 14.5: a server that does not support partial PUT must reject Content-Range.
  if (range !== undefined) throw partOfFile(range)
  if (encoding !== undefined && encoding !== 'identity')
    throw unsupportedMediaType({ expected: 'a file without Content-Encoding', received: encoding })
  const digests = bodyDigests(req.headers)
  const bytes = new Transform({
    transform(chunk: Buffer, _, done) {
      digests?.add(chunk)
      done(null, chunk)
    },
    flush(done) {
      try {
        digests?.verify()
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
  const breakOff = (reason: Error) => void bytes.destroy(reason)
  // Until the stream is read, no other code handles its error.
  bytes.on('error', () => {})
  const leave = () => breakOff(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  const unwatch = watchRate(req, minBytesPerSecond, breakOff)
  req.pipe(bytes)
  try {
    yield { name, bytes }
  } finally {
    unwatch()
    signal.removeEventListener('abort', leave)
    req.unpipe(bytes)
    bytes.destroy()
  }
}

function partOfFile(received: string): Problem {
  return new Problem({
    status: 400,
    code: 'bad_request',
    detail: `expected a whole file, without Content-Range, but received ${JSON.stringify(received.slice(0, 100))}`,
  })
}
