import { type Box, type Point, type Size, unionOf } from './box.ts'

/** The point on which a crop is centred, by the words of the compass. */
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

/** Synonyms of the compass words. */
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
 * The point on which to centre a crop of this size, from the detected boxes: the centre of all of them where they fit
 * into the crop, otherwise that of the largest. Undefined without boxes.
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

/** The focus words that a query may use. */
export type FocusWord = 'auto' | 'face' | CompassWord

export interface Focus {
  func: FocusWord
  fx: number
  fy: number
}

/** Normalizes a focus: a point replaces the word, and a direction becomes a point. */
export function requestedFocus({ func = 'center', fx = 0.5, fy = 0.5 }: Partial<Focus>): Focus {
  if (fx !== 0.5 || fy !== 0.5) return { func: 'center', fx, fy }
  if (func === 'auto' || func === 'face') return { func, fx, fy }
  const { x, y } = COMPASS[func]
  return { func: 'center', fx: x, fy: y }
}
