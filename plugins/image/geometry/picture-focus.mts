import type { Sharp } from 'sharp'
import type { Box, Point, Size } from '../../../src/core/geometry/box.ts'
import { type FocusWord, focusOfBoxes } from '../../../src/core/geometry/focus.ts'
import type { Opened, TransformContext } from '../../../src/core/plugin-api/plugin.ts'
import { weightedFocus } from './weighted-focus.mts'

/** The boxes of the detector, or none when no detector is loaded. For an animation, those of its first frame. */
export async function boxesIn(draft: Sharp, context: TransformContext<'sharp'>): Promise<readonly Box[]> {
  const still = context.detect && (await firstFrame(draft, context))
  return (still && (await context.detect?.(still))) ?? []
}

/**
 * The point on which to centre a crop of this size when it depends on the image content: `auto` and `face`. Undefined
 * for any other focus.
 *
 * @param boxes of the detector, for `face`
 */
export async function focusIn(
  draft: Sharp,
  {
    cut,
    func,
    boxes,
    weights,
  }: { cut: Size; func: FocusWord; boxes: readonly Box[]; weights?: readonly number[] | undefined },
  context: TransformContext<'sharp'>,
): Promise<Point | undefined> {
  if (func !== 'auto' && func !== 'face') return undefined
  const seen = weights ? undefined : focusOfBoxes(boxes, cut, context.source)
  if (seen) return seen
  const still = await firstFrame(draft, context)
  if (!still) return undefined
  const inside = { width: LOOKED_AT, height: LOOKED_AT, fit: 'inside', withoutEnlargement: true } as const
  // A clone of the shared draft. A separate frame belongs to this function, and a clone of it would copy the bytes of
  // all frames.
  const own = still.draft === draft ? draft.clone() : still.draft
  const [small] = await context.frames(own.resize(inside))
  if (!small) return undefined
  const { source } = context
  return weights ? weightedFocus(small, weights, { boxes, cut, source }) : attention(small, cut, source)
}

async function firstFrame(
  draft: Sharp,
  { source, frames }: TransformContext<'sharp'>,
): Promise<Opened<'sharp'> | undefined> {
  return source.pages > 1 ? (await frames(draft))[0] : { draft, source }
}

// libvips evaluates 32 x 32 pixels. At this size, its result is precise to a third of a percent.
const LOOKED_AT = 320

/** The point on which libvips would centre the crop. */
async function attention(small: Opened<'sharp'>, cut: Size, source: Size): Promise<Point | undefined> {
  const { width, height } = small.source
  const box = {
    width: Math.max(1, Math.floor((cut.width * width) / source.width)),
    height: Math.max(1, Math.floor((cut.height * height) / source.height)),
  }
  const found = small.draft.resize({ ...box, fit: 'cover', position: 'attention', withoutReduction: true })
  const { info } = await found.raw().toBuffer({ resolveWithObject: true })
  const { attentionX: x, attentionY: y } = info
  return x === undefined || y === undefined ? undefined : { x: x / width, y: y / height }
}
