import type { PointerEvent } from 'react'

/** A position on an element, as fractions of its sides. */
export interface Point {
  x: number
  y: number
}

/** Where the pointer is on an element, from 0 to 1. */
export function positionIn(element: Element, event: PointerEvent | globalThis.PointerEvent): Point {
  const { left, top, width, height } = element.getBoundingClientRect()
  return { x: within((event.clientX - left) / width), y: within((event.clientY - top) / height) }
}

export function within(value: number, min = 0, max = 1): number {
  return Math.min(max, Math.max(min, value))
}

/** What an arrow key does: one step to the left is `{ x: -1, y: 0 }`. Undefined for other keys. */
export function arrowOf(key: string): Point | undefined {
  return {
    ArrowLeft: { x: -1, y: 0 },
    ArrowRight: { x: 1, y: 0 },
    ArrowUp: { x: 0, y: -1 },
    ArrowDown: { x: 0, y: 1 },
  }[key]
}
