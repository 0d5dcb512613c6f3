import { type Box, type Point, type Size, unionOf } from './box.ts'

/** What a cut keeps, by the words of the compass. */
export const COMPASS = {
  center: { x: 0.5, y: 0.5 },
  north: { x: 0.5, y: 0 },
  northeast: { x: 1, y: 0 },
  east: { x: 1, y: 0.5 },
  southeast: { x: 1, y: 1 },
  south: { x: 0.5, y: 1 },
  southwest: { x: 0, y: 1 },
  west: { x: 0, y: 0.5 },
  northwest: { x: 0, y: 0 },
} as const satisfies Readonly<Record<string, Point>>

export type CompassWord = keyof typeof COMPASS

export const COMPASS_WORDS = Object.keys(COMPASS) as readonly CompassWord[]

/** Other words for them. */
export const COMPASS_SYNONYMS: Readonly<Record<string, CompassWord>> = {
  centre: 'center',
  c: 'center',
  middle: 'center',
  n: 'north',
  top: 'north',
  ne: 'northeast',
  'top-right': 'northeast',
  e: 'east',
  right: 'east',
  se: 'southeast',
  'bottom-right': 'southeast',
  s: 'south',
  bottom: 'south',
  sw: 'southwest',
  'bottom-left': 'southwest',
  w: 'west',
  left: 'west',
  nw: 'northwest',
  'top-left': 'northwest',
}

/**
 * What a cut to this size shall have in its middle, of what was detected: all of it where that fits, else the largest.
 * Undefined when there is nothing.
 */
export function focusOfBoxes(boxes: readonly Box[], cut: Size, source: Size): Point | undefined {
  const union = unionOf(boxes)
  if (!union) return undefined
  const fits = union.width <= cut.width && union.height <= cut.height
  const area = ({ width, height }: Size) => width * height
  const largest = boxes.reduce((best, box) => (area(box) > area(best) ? box : best))
  const { left, top, width, height } = fits ? union : largest
  return { x: (left + width / 2) / source.width, y: (top + height / 2) / source.height }
}

/** What a query says of the focus. */
export type FocusWord = 'auto' | 'face' | CompassWord

export interface Focus {
  func: FocusWord
  fx: number
  fy: number
}

/** The same focus in one form: a point says more than a word, and a direction is a point. */
export function focusAsked({ func = 'center', fx = 0.5, fy = 0.5 }: Partial<Focus>): Focus {
  if (fx !== 0.5 || fy !== 0.5) return { func: 'center', fx, fy }
  if (func === 'auto' || func === 'face') return { func, fx, fy }
  const { x, y } = COMPASS[func]
  return { func: 'center', fx: x, fy: y }
}
