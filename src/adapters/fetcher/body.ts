import { pipeline, Readable, Transform } from 'node:stream'
import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
} from 'node:zlib'
import { tooLarge } from '../../core/problem.ts'
import { limitedExpansion } from './decompression-limit.ts'
import type { ReceivedResponse } from './exchange.ts'
import { remoteFailed } from './refusals.ts'

type Decoder = Gunzip | BrotliDecompress

// We request no encoding, yet some servers send one, for example for an object that was stored compressed.
const DECODERS: ReadonlyMap<string, () => Decoder> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/**
 * The decoded body of a response. It fails when it exceeds `maxBytes`, encoded or decoded, also when `Content-Length` is
 * smaller. All its errors are converted by `failure`.
 *
 * @throws Problem 413 when `Content-Length` exceeds `maxBytes`, 502 for an unknown encoding
 */
export function guardedBody(
  { status, headers, body }: ReceivedResponse,
  { method, maxBytes, failure }: { method: string; maxBytes: number; failure: (error: unknown) => Error },
): Readable {
  // RFC 9110 section 6.4.1: these have no body, though their headers may describe one.
  if (method === 'HEAD' || status === 204 || status === 304) {
    body.destroy()
    return Readable.from([])
  }
  if (Number(headers['content-length']) > maxBytes) throw remoteTooLarge(maxBytes)

  const source = decoded(String(headers['content-encoding'] ?? '').toLowerCase(), body, maxBytes)
  const output = bounded(maxBytes)
  // It may fail before anything listens. A later reader still gets the error.
  output.on('error', () => {})
  output.once('close', () => source.destroy())
  source.on('error', (error) => output.destroy(failure(error)))
  return source.pipe(output)
}

function decoded(encoding: string, body: Readable, maxBytes: number): Readable {
  if (encoding === '' || encoding === 'identity') return body
  const decoder = DECODERS.get(encoding)?.()
  if (!decoder) throw remoteFailed('sent an encoding that was not requested')
  // The encoded bytes are limited too: a stream may decode to nothing without end.
  const stages = [body, bounded(maxBytes), decoder, limitedExpansion(() => decoder.bytesWritten)]
  return pipeline(stages, () => {}) as Transform
}

function bounded(maxBytes: number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(remoteTooLarge(maxBytes))
      else done(null, chunk)
    },
  })
}

function remoteTooLarge(maxBytes: number) {
  return tooLarge('a remote file', maxBytes)
}
