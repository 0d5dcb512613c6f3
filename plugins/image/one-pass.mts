import type { TransformContext } from '../../src/core/plugin-api/plugin.ts'

// In the order in which sharp carries out what they ask for, whatever the order of calls.
const BEFORE = ['image-orient', 'image-crop', 'image-resize', 'image-flip', 'image-flop', 'image-rotate']

/**
 * Whether what a plugin asks for comes truly after all that this pass has asked for already, without a pass of its own: for
 * one that mirrors, turns by quarters or adds a border. Not of animations, whose frames sharp takes for one picture.
 *
 * @param last the last of those that sharp carries out before it
 */
export function comesAfter(
  { pass, source }: Pick<TransformContext<'sharp'>, 'pass' | 'source'>,
  last: 'image-resize' | 'image-flip' | 'image-flop' | 'image-rotate',
): boolean {
  const before = BEFORE.slice(0, BEFORE.indexOf(last) + 1)
  return source.pages === 1 && !source.framed && pass.every((name) => before.includes(name))
}
