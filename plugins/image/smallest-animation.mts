import type { Sharp } from 'sharp'
import type { Opened, TransformContext } from '../../src/core/plugin-api/plugin.ts'
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
// Over all frames: a further attempt encodes them all again.
const MAX_PIXELS = 8_000_000

/** Encodes an animation, in no more bytes than the original has unless it gets more pixels. */
export async function smallestAnimation(
  image: Sharp,
  request: { output: OutputFormat; quality: number; isAuto: boolean },
  context: TransformContext<'sharp'>,
): Promise<Opened<'sharp'>> {
  const { source, options, render, signal } = context
  const { output, quality } = request
  const instead = originalInstead({ ...request, outputs: [output] }, context)
  const draft = encoded(image, output, { quality, options })
  const { size } = await render(draft)
  const original = await instead(size)
  if (original) return original
  const room = roomFor(context)
  if (size > room && source.width * source.height * source.pages <= MAX_PIXELS) {
    const settled = await context.settle(image)
    for (const how of smallerEncodings(request, source.format)) {
      signal.throwIfAborted()
      const attempt = encoded(settled.draft.clone(), output, { quality, options, ...how })
      if ((await render(attempt)).size <= room) return { draft: attempt, source }
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
