import { type PointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react'

/** How a picture is shown: moved by `x` and `y` pixels from the centre, and enlarged. 1: it fits into its frame. */
export interface View {
  scale: number
  x: number
  y: number
}

const FIT: View = { scale: 1, x: 0, y: 0 }
const SCALE_MAX = 16

/** Zooms a picture within its frame: by wheel, pinch, drag and buttons. The picture never leaves the frame. */
export function useZoom(frame: RefObject<HTMLElement | null>, picture: RefObject<HTMLElement | null>) {
  const [view, setView] = useState(FIT)
  const pointers = useRef(new Map<number, { x: number; y: number }>())

  const clamped = useCallback(
    ({ scale, x, y }: View): View => {
      const within = (value: number, side: 'Width' | 'Height') => {
        const shown = (picture.current?.[`offset${side}`] ?? 0) * scale
        const room = Math.max(0, (shown - (frame.current?.[`client${side}`] ?? 0)) / 2)
        return Math.min(room, Math.max(-room, value))
      }
      return scale <= 1 ? FIT : { scale, x: within(x, 'Width'), y: within(y, 'Height') }
    },
    [frame, picture],
  )
  /** Zooms by a factor. The point, relative to the centre of the frame, stays where it is. */
  const zoom = useCallback(
    (factor: number, at = { x: 0, y: 0 }) =>
      setView((last) => {
        const scale = Math.min(SCALE_MAX, Math.max(1, last.scale * factor))
        const ratio = scale / last.scale
        return clamped({ scale, x: at.x - (at.x - last.x) * ratio, y: at.y - (at.y - last.y) * ratio })
      }),
    [clamped],
  )
  const pan = (x: number, y: number) => setView((last) => clamped({ ...last, x: last.x + x, y: last.y + y }))

  const fromCentre = useCallback(
    ({ clientX, clientY }: { clientX: number; clientY: number }) => {
      const { left, top, width, height } = frame.current?.getBoundingClientRect() ?? new DOMRect()
      return { x: clientX - left - width / 2, y: clientY - top - height / 2 }
    },
    [frame],
  )
  useEffect(() => {
    const element = frame.current
    // React listens to the wheel passively, and could not stop the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault()
      zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), fromCentre(event))
    }
    element?.addEventListener('wheel', onWheel, { passive: false })
    return () => element?.removeEventListener('wheel', onWheel)
  }, [frame, zoom, fromCentre])

  function onPointerMove(event: PointerEvent): void {
    const last = pointers.current.get(event.pointerId)
    if (!last) return
    const now = { x: event.clientX, y: event.clientY }
    const [other] = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, at]) => at)
    pointers.current.set(event.pointerId, now)
    if (!other) {
      pan(now.x - last.x, now.y - last.y)
      return
    }
    const distance = (from: { x: number; y: number }) => Math.hypot(from.x - other.x, from.y - other.y)
    const centre = { clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 }
    zoom(distance(now) / Math.max(1, distance(last)), fromCentre(centre))
  }
  const release = (event: PointerEvent) => void pointers.current.delete(event.pointerId)
  return {
    view,
    zoom,
    pan,
    fit: () => setView(FIT),
    handlers: {
      onPointerDown(event: PointerEvent) {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY })
      },
      onPointerMove,
      onPointerUp: release,
      onPointerCancel: release,
      onDoubleClick: (event: { clientX: number; clientY: number }) =>
        view.scale > 1 ? setView(FIT) : zoom(3, fromCentre(event)),
    },
  }
}
