import type { Sharp } from 'sharp'
import type { Point, Size } from '../../src/core/geometry/box.ts'
import { type FocusWord, focusOfBoxes } from '../../src/core/geometry/focus.ts'
import type { Opened, TransformContext } from '../../src/core/plugin-api/plugin.ts'
import { weightedFocus } from './weighted-focus.mts'

/**
 * The point on which to centre a crop of this size when it depends on the image content: `auto` and `face`. Undefined
 * for any other focus.
 */
export async function focusIn(
  draft: Sharp,
  cut: Size,
  { func, weights }: { func: FocusWord; weights?: readonly number[] | undefined },
  { source, frames, detect }: TransformContext<'sharp'>,
): Promise<Point | undefined> {
  if (func !== 'auto' && func !== 'face') return undefined
  // For an animation, its first frame decides.
  const [still] = source.pages > 1 ? await frames(draft) : [{ draft, source }]
  if (!still) return undefined
  const boxes = (func === 'face' || weights?.[0]) && detect ? await detect(still) : []
  const seen = weights ? undefined : focusOfBoxes(boxes, cut, source)
  if (seen) return seen
  const inside = { width: LOOKED_AT, height: LOOKED_AT, fit: 'inside', withoutEnlargement: true } as const
  // A clone of the shared draft. A separate frame belongs to this function, and a clone of it would copy the bytes of
  // all frames.
  const own = still.draft === draft ? draft.clone() : still.draft
  const [small] = await frames(own.resize(inside))
  if (!small) return undefined
  return weights ? weightedFocus(small, weights, { boxes, cut, source }) : attention(small, cut, source)
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
