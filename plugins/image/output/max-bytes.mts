import type { Sharp } from 'sharp'
import { searchQuality } from '../../../src/core/media/quality-search.ts'
import type { TransformContext } from '../../../src/core/plugin-api/plugin.ts'
import type { Problem } from '../../../src/core/problem.ts'
import { notTransformable } from '../../../src/core/transform-problems.ts'
import { encoded, type OutputFormat } from './encoders.mts'

// Limits over all frames: seven encodings of this many pixels take a core ten seconds as AVIF, six as WebP.
export const SEARCH_MAX_PIXELS = { avif: 2_000_000, others: 8_000_000 }

/**
 * Finds the highest quality, at most `from`, with which an image has at most `maxBytes`.
 *
 * @throws Problem 422 for an image that is too large for several encodings
 */
export async function withinBytes(
  image: Sharp,
  {
    output,
    from,
    lossless,
    maxBytes,
  }: { output: OutputFormat; from: number; lossless: boolean | undefined; maxBytes: number },
  { source: { width, height, pages }, options, settle, render, signal }: TransformContext<'sharp'>,
): Promise<Sharp> {
  const maxPixels = output === 'avif' ? SEARCH_MAX_PIXELS.avif : SEARCH_MAX_PIXELS.others
  if (width * height * pages > maxPixels) throw tooLargeToSearch(output, { width, height, pages, maxPixels })
  // One draft for all tries: a clone would hold all pixels once more.
  const { draft } = await settle(image)
  let last = from
  const bytesOf = async (quality: number) => {
    signal.throwIfAborted()
    last = quality
    return (await render(encoded(draft, output, { quality, lossless, options }))).size
  }
  const found = await searchQuality({ from, maxBytes, bytesOf })
  if (found !== last) await bytesOf(found)
  return draft
}

function tooLargeToSearch(
  output: OutputFormat,
  { width, height, pages, maxPixels }: { width: number; height: number; pages: number; maxPixels: number },
): Problem {
  const size = `${width} x ${height} px${pages > 1 ? ` in ${pages} frames` : ''}`
  return notTransformable(
    `expected an output of at most ${maxPixels} pixels over all frames for maxbytes as ${output} but this one is ${size}. Request a smaller size.`,
  )
}
