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
 * The point on which to centre a crop of this size, so that it contains as many of the detected boxes as possible. The
 * largest one counts most. Undefined without boxes.
 */
export function focusOfBoxes(boxes: readonly Box[], cut: Size, source: Size): Point | undefined {
  const kept: Box[] = []
  for (const box of boxes.toSorted((a, b) => b.width * b.height - a.width * a.height)) {
    const union = unionOf([...kept, box])
    if (kept.length === 0 || (union && contains(cut, union))) kept.push(box)
  }
  const union = unionOf(kept)
  if (!union) return undefined
  const { left, top, width, height } = union
  return { x: (left + width / 2) / source.width, y: (top + height / 2) / source.height }
}

// Around each box, as a share of its sides: boxes of faces end at chin and eyebrows.
const MARGIN = 0.2

/** The box of a detector, larger by a margin on each side. It may exceed the image. */
export function withMargin({ left, top, width, height }: Box): Box {
  const [across, down] = [width * MARGIN, height * MARGIN]
  return { left: left - across, top: top - down, width: width + 2 * across, height: height + 2 * down }
}

/**
 * The zoom, or the largest one below it at which the crop contains all boxes with their margins.
 *
 * @param cut the size of the crop with this zoom
 */
export function zoomThatShows(boxes: readonly Box[], cut: Size, zoom: number): number {
  const union = unionOf(boxes.map(withMargin))
  if (!union) return zoom
  const scale = Math.min(cut.width / union.width, cut.height / union.height, 1)
  return Math.max(1, zoom * scale)
}

function contains(cut: Size, { width, height }: Size): boolean {
  return width <= cut.width && height <= cut.height
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
