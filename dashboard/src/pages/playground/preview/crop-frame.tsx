import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import { PLAYGROUND } from '../texts.ts'
import { arrowOf, type Point, positionIn, within } from './pointer.ts'

/** A part of a picture, in its pixels. */
interface Box {
  x: number
  y: number
  w: number
  h: number
}

const CORNERS: readonly Point[] = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: 1, y: 1 },
]

/**
 * The frame of a crop over a picture. A drag outside of it begins another one, a drag inside moves it, and one at a corner
 * changes its size.
 */
export function CropFrame({
  value,
  size,
  onChange,
}: {
  /** `x,y,w,h` */
  value: string | undefined
  size: { width: number; height: number }
  onChange: (value: string) => void
}) {
  const area = useRef<HTMLDivElement>(null)
  const moved = useRef<(to: Point) => Box>(undefined)
  const box = boxOf(value) ?? { x: 0, y: 0, w: size.width, h: size.height }
  const set = (next: Box) => onChange(textOf(next, size))

  const begin = (event: PointerEvent<HTMLElement>) => {
    if (!area.current || event.button !== 0) return
    event.preventDefault()
    area.current.setPointerCapture(event.pointerId)
    const from = pixels(positionIn(area.current, event), size)
    const part = event.target instanceof HTMLElement ? event.target.dataset.part : undefined
    const corner = part === undefined || part === 'frame' ? undefined : CORNERS[Number(part)]
    if (corner) {
      const opposite = { x: box.x + (1 - corner.x) * box.w, y: box.y + (1 - corner.y) * box.h }
      moved.current = (to) => between(opposite, to)
    } else if (part === 'frame' && value !== undefined) {
      moved.current = (to) => ({
        ...box,
        x: within(box.x + to.x - from.x, 0, size.width - box.w),
        y: within(box.y + to.y - from.y, 0, size.height - box.h),
      })
    } else moved.current = (to) => between(from, to)
  }
  const move = (event: PointerEvent<HTMLElement>) => {
    if (!moved.current || !area.current) return
    const next = moved.current(pixels(positionIn(area.current, event), size))
    if (next.w >= 1 && next.h >= 1) set(next)
  }
  const end = () => {
    moved.current = undefined
  }
  const press = (event: KeyboardEvent) => {
    const arrow = arrowOf(event.key)
    if (!arrow) return
    event.preventDefault()
    const step = Math.max(1, Math.round(Math.max(size.width, size.height) / 100))
    const [x, y] = [arrow.x * step, arrow.y * step]
    if (event.shiftKey) {
      set({
        ...box,
        w: within(box.w + x, 1, size.width - box.x),
        h: within(box.h + y, 1, size.height - box.y),
      })
    } else {
      set({
        ...box,
        x: within(box.x + x, 0, size.width - box.w),
        y: within(box.y + y, 0, size.height - box.h),
      })
    }
  }

  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`
  return (
    <div
      ref={area}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      className="absolute inset-0 cursor-crosshair touch-none overflow-hidden"
    >
      <button
        type="button"
        data-part="frame"
        aria-label={PLAYGROUND.cropArea(
          Math.round(box.w),
          Math.round(box.h),
          Math.round(box.x),
          Math.round(box.y),
        )}
        onKeyDown={press}
        style={{
          left: percent(box.x, size.width),
          top: percent(box.y, size.height),
          width: percent(box.w, size.width),
          height: percent(box.h, size.height),
        }}
        className={`absolute border-2 border-white shadow-[0_0_0_9999px_rgb(0_0_0/55%)] outline-offset-[-2px] ${value === undefined ? 'cursor-crosshair!' : 'cursor-move!'}`}
      >
        {CORNERS.map((corner, i) => (
          <span
            key={`${corner.x}${corner.y}`}
            data-part={i}
            style={{ left: `${corner.x * 100}%`, top: `${corner.y * 100}%` }}
            className={`absolute size-4 -translate-x-1/2 -translate-y-1/2 rounded-sm border border-black/50 bg-white ${corner.x === corner.y ? 'cursor-nwse-resize' : 'cursor-nesw-resize'}`}
          />
        ))}
      </button>
    </div>
  )
}

function pixels({ x, y }: Point, { width, height }: { width: number; height: number }): Point {
  return { x: x * width, y: y * height }
}

function between(a: Point, b: Point): Box {
  return { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), w: Math.abs(a.x - b.x), h: Math.abs(a.y - b.y) }
}

function boxOf(value: string | undefined): Box | undefined {
  const [x, y, w, h, ...others] = (value ?? '').split(',').map(Number)
  const numbers = [x, y, w, h].filter((each) => each !== undefined && Number.isFinite(each))
  if (numbers.length < 4 || others.length > 0 || !w || !h) return undefined
  return { x: Number(x), y: Number(y), w, h }
}

/** Whole pixels within the picture. */
function textOf({ x, y, w, h }: Box, { width, height }: { width: number; height: number }): string {
  const left = within(Math.round(x), 0, width - 1)
  const top = within(Math.round(y), 0, height - 1)
  return [left, top, within(Math.round(w), 1, width - left), within(Math.round(h), 1, height - top)].join()
}
