import type { Sharp } from 'sharp'
import type { Point, Size } from '../../src/core/geometry/box.ts'
import { type FocusWord, focusOfBoxes } from '../../src/core/geometry/focus.ts'
import type { Opened, TransformContext } from '../../src/core/plugin-api/plugin.ts'

/** What a cut of this size keeps, where the picture itself has to tell; undefined where it need not. */
export async function focusIn(
  draft: Sharp,
  cut: Size,
  func: FocusWord,
  { source, frames, detect }: TransformContext<'sharp'>,
): Promise<Point | undefined> {
  if (func !== 'auto' && func !== 'face') return undefined
  // Of an animation, what its first frame shows.
  const [still] = source.pages > 1 ? await frames(draft) : [{ draft, source }]
  if (!still) return undefined
  const boxes = func === 'face' && detect ? await detect(still) : []
  const seen = focusOfBoxes(boxes, cut, source)
  if (seen) return seen
  const inside = { width: LOOKED_AT, height: LOOKED_AT, fit: 'inside', withoutEnlargement: true } as const
  // A copy of what goes on: a frame is nobody else's, and copying it would copy all of them.
  const own = still.draft === draft ? draft.clone() : still.draft
  const [small] = await frames(own.resize(inside))
  return small && attention(small, cut, source)
}

// libvips looks at 32 x 32 pixels; these tell it apart to a third of a percent.
const LOOKED_AT = 320

/** Where libvips would cut. */
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
