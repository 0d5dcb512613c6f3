import type { KeyboardEvent, PointerEvent } from 'react'
import { PLAYGROUND } from '../texts.ts'
import { arrowOf, type Point, positionIn, within } from './pointer.ts'

const STEP = 0.01

/** The focal point over a picture: dragged, clicked, or moved by arrow keys. */
export function FocusPoint({
  x,
  y,
  onChange,
}: {
  x: string | undefined
  y: string | undefined
  onChange: (x: number, y: number) => void
}) {
  const at = { x: fraction(x), y: fraction(y) }
  const set = (point: Point) => onChange(rounded(within(point.x)), rounded(within(point.y)))
  const drag = (event: PointerEvent<HTMLElement>) => {
    if (event.type === 'pointerdown') event.currentTarget.setPointerCapture(event.pointerId)
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    set(positionIn(event.currentTarget, event))
  }
  const press = (event: KeyboardEvent) => {
    const arrow = arrowOf(event.key)
    if (!arrow) return
    event.preventDefault()
    const step = event.shiftKey ? 10 * STEP : STEP
    set({ x: at.x + arrow.x * step, y: at.y + arrow.y * step })
  }
  const [left, top] = [Math.round(at.x * 100), Math.round(at.y * 100)]
  return (
    <button
      type="button"
      aria-label={PLAYGROUND.focusPoint(left, top)}
      onPointerDown={drag}
      onPointerMove={drag}
      onKeyDown={press}
      className="absolute inset-0 cursor-crosshair! touch-none"
    >
      <span
        aria-hidden="true"
        style={{ left: `${at.x * 100}%`, top: `${at.y * 100}%` }}
        className="pointer-events-none absolute size-7 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-white bg-accent/40 shadow-floating outline outline-black/60"
      />
    </button>
  )
}

function fraction(text: string | undefined): number {
  const number = Number(text)
  return text === undefined || Number.isNaN(number) ? 0.5 : within(number)
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
