import { pipeline } from 'node:stream/promises'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import pLimit from 'p-limit'
import { type Asset, assetFromBytes } from '../../core/bytes/asset.ts'
import { encodedVariant, encodingOf } from '../../core/files/variant.ts'
import type { Encoding } from '../../core/media/encodings.ts'
import { unavailable } from '../../core/problem.ts'
import type { Plan } from '../plan/plan.ts'
import type { WorkRunner } from './run.ts'

// Each takes a core for up to a second. Requests beyond these are answered without compression.
const AT_ONCE = 1
const WAITING = 20
// Brotli 11 saves 5 % more, in twenty times the time.
const BROTLI_QUALITY = 9
const GZIP_LEVEL = 9

/**
 * Plans a compressed copy, under a variant that no query leads to. So it is limited, shared, stored, evicted, swept and deleted as
 * any other derivative.
 *
 * @param source as for `encodedVariant`
 */
export function encodingPlan(encoding: Encoding, source?: Uint8Array): Plan {
  return { steps: [], variant: encodedVariant(encoding, source), variesBy: [], notes: [] }
}

/** Wraps a runner, so that it can run an {@link encodingPlan}. @throws Problem 503 when too many are waiting */
export function encodingRunner(run: WorkRunner): WorkRunner {
  const one = pLimit(AT_ONCE)
  return (plan, source, context) => {
    const encoding = encodingOf(plan.variant)
    if (encoding === undefined) return run(plan, source, context)
    if (one.pendingCount >= WAITING)
      throw unavailable('Too many files are being compressed. Retry in a few seconds.')
    return one(() => compressed(source, encoding, context.signal))
  }
}

async function compressed(source: Asset, encoding: Encoding, signal: AbortSignal): Promise<Asset> {
  const { mediaType, size, lastModified } = source
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: size,
  }
  const encoder = encoding === 'br' ? createBrotliCompress({ params }) : createGzip({ level: GZIP_LEVEL })
  const chunks: Buffer[] = []
  await pipeline(await source.open({ signal }), encoder, collectIn(chunks), { signal })
  return assetFromBytes(Buffer.concat(chunks), { mediaType, lastModified })
}

function collectIn(chunks: Buffer[]) {
  return async (bytes: AsyncIterable<Buffer>) => {
    for await (const chunk of bytes) chunks.push(chunk)
  }
}
