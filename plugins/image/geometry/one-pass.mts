import type { TransformContext } from '../../../src/core/plugin-api/plugin.ts'

// The order in which sharp applies these operations, whatever the order of calls.
const BEFORE = ['image-orient', 'image-crop', 'image-resize', 'image-flip', 'image-flop', 'image-rotate']

/**
 * Whether sharp would apply the operation of a plugin after everything else in this pass, so that it needs no new
 * pass. For a mirror, a rotation by quarters, or a border. Always false for animations, whose frames are one image
 * for sharp.
 *
 * @param last the last operation that sharp applies before it
 */
export function comesAfter(
  { pass, source }: Pick<TransformContext<'sharp'>, 'pass' | 'source'>,
  last: 'image-resize' | 'image-flip' | 'image-flop' | 'image-rotate',
): boolean {
  const before = BEFORE.slice(0, BEFORE.indexOf(last) + 1)
  return source.pages === 1 && !source.framed && pass.every((name) => before.includes(name))
}
