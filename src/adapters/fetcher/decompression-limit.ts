import { Transform } from 'node:stream'
import { Problem } from '../../core/problem.ts'

/** Maximum of decoded bytes per transferred byte. It applies from {@link FREE_BYTES} decoded bytes. */
const MAX_RATIO = 100
/** Below this size, any ratio is accepted: a short text of spaces is no attack. */
const FREE_BYTES = 1024 * 1024

/**
 * Passes a decoded body on while it is at most a hundred times larger than the transferred bytes. deflate reaches 1000:1,
 * Brotli far more: without this limit, 1 MB could store 1 GB. Text, JSON and logs reach 5 to 50.
 *
 * @param transferred returns the number of bytes that the decoder has read so far
 */
export function limitedExpansion(transferred: () => number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > FREE_BYTES && bytes > MAX_RATIO * transferred()) done(expandsTooMuch())
      else done(null, chunk)
    },
  })
}

function expandsTooMuch(): Problem {
  return new Problem({
    status: 413,
    code: 'too_large',
    detail: `expected a remote file that decompresses to at most ${MAX_RATIO} times its size but it expands further; nothing was stored`,
    members: { maxRatio: MAX_RATIO },
  })
}
