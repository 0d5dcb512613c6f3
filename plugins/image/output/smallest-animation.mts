import type { Sharp } from 'sharp'
import type { Opened, TransformContext } from '../../../src/core/plugin-api/plugin.ts'
import { type Encoding, encoded, type OutputFormat } from './encoders.mts'
import { originalInstead, roomFor } from './room.mts'

// Ways to write a GIF, from the best look to the fewest bytes.
const GIFS = [
  { colours: 128, frameError: 4 },
  { colours: 64, frameError: 8 },
  { colours: 32, frameError: 8 },
  { colours: 16, frameError: 8 },
]
// Qualities of WebP in the same order.
const WEBPS = [60, 45, 30]
// Over all frames: a further attempt encodes them all again, and a GIF takes twice as long as a WebP.
const MAX_PIXELS = { smaller: 8_000_000, gif: 2_000_000 }

/**
 * Encodes an animation, in no more bytes than the original has unless it gets more pixels. With f=auto, a GIF may become a WebP or
 * remain a GIF, whichever is smaller.
 */
export async function smallestAnimation(
  image: Sharp,
  request: { output: OutputFormat; quality: number; isAuto: boolean },
  context: TransformContext<'sharp'>,
): Promise<Opened<'sharp'>> {
  const { source, options, render, signal } = context
  const { output, quality, isAuto } = request
  const instead = originalInstead({ ...request, outputs: [output] }, context)
  const draft = encoded(image, output, { quality, options })
  const { size } = await render(draft)
  const original = await instead(size)
  if (original) return original
  const framesPixels = source.width * source.height * source.pages
  let settled: Opened<'sharp'> | undefined
  const pixels = async () => {
    settled ??= await context.settle(image)
    return settled.draft.clone()
  }
  if (isAuto && source.format === 'gif' && output !== 'gif' && framesPixels <= MAX_PIXELS.gif) {
    const gif = encoded(await pixels(), 'gif', { quality, options })
    if ((await render(gif)).size < size) return { draft: gif, source }
  }
  if (size > roomFor(context) && framesPixels <= MAX_PIXELS.smaller) {
    for (const how of smallerEncodings(request, source.format)) {
      signal.throwIfAborted()
      const attempt = encoded(await pixels(), output, { quality, options, ...how })
      if ((await render(attempt)).size <= roomFor(context)) return { draft: attempt, source }
    }
  }
  return { draft, source }
}

/** From the best look to the fewest bytes. A GIF of another format needs more bytes than that. */
function smallerEncodings(
  { output, quality }: { output: OutputFormat; quality: number },
  format: string,
): ReadonlyArray<Partial<Encoding>> {
  if (output === 'gif') return format === 'gif' ? GIFS : []
  return WEBPS.filter((each) => each < quality).map((each) => ({ quality: each }))
}

/** Encodes an animation as AVIF. Its colours are sRGB. */
export function asSequence(
  image: Sharp,
  sequence: { quality: number; lossless: boolean },
  { source: { gainMap: _, keepsProfile, ...source } }: TransformContext<'sharp'>,
): Opened<'sharp'> {
  const draft = keepsProfile ? image.withIccProfile('srgb') : image
  return { draft: draft.toColourspace('srgb'), source: { ...source, sequence } }
}
