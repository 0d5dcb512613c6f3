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
import type { Answer } from './exchange.ts'
import { remoteFailed } from './refusals.ts'

type Decoder = Gunzip | BrotliDecompress

// We ask for none, yet some servers send what they have: an object that was stored compressed, say.
const DECODERS: ReadonlyMap<string, () => Decoder> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/**
 * The body of an answer, decoded, and never more than `maxBytes` of it: neither as it comes nor decoded, whatever
 * `Content-Length` says. Whatever goes wrong, it fails with what `failure` makes of it.
 *
 * @throws Problem 413 when the length that is told is too much already, 502 for an encoding that we do not know
 */
export function guardedBody(
  { status, headers, body }: Answer,
  { method, maxBytes, failure }: { method: string; maxBytes: number; failure: (error: unknown) => Error },
): Readable {
  // RFC 9110 section 6.4.1: these have no body, though they may tell the length and encoding of one.
  if (method === 'HEAD' || status === 204 || status === 304) {
    body.destroy()
    return Readable.from([])
  }
  if (Number(headers['content-length']) > maxBytes) throw remoteTooLarge(maxBytes)

  const source = decoded(String(headers['content-encoding'] ?? '').toLowerCase(), body, maxBytes)
  const output = bounded(maxBytes)
  // Nobody may be listening yet when it fails; whoever reads later is told then.
  output.on('error', () => {})
  output.once('close', () => source.destroy())
  source.on('error', (error) => output.destroy(failure(error)))
  return source.pipe(output)
}

function decoded(encoding: string, body: Readable, maxBytes: number): Readable {
  if (encoding === '' || encoding === 'identity') return body
  const decoder = DECODERS.get(encoding)?.()
  if (!decoder) throw remoteFailed('sent an encoding that was not requested')
  // Bounded before as well: a stream may decode to nothing for ever.
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
