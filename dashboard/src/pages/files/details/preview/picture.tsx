import { useQuery } from '@tanstack/react-query'
import { clsx } from 'clsx'
import { Crosshair, Maximize, ZoomIn, ZoomOut } from 'lucide-react'
import { type KeyboardEvent, type MouseEvent, useRef, useState } from 'react'
import { SIDE_MAX } from '../../../../../../client/generated/limits.ts'
import { type FileWithDerivatives, thumbHashToDataUrl } from '../../../../../../client/index.ts'
import { useClient, useMay } from '../../../../api/session.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { useDelivery } from '../data/delivery.ts'
import { infoQuery } from '../data/file.ts'
import { type Point, useFocalPoint } from '../data/focal-point.ts'
import { DETAILS } from '../texts.ts'
import { NoPreview } from './no-preview.tsx'
import { useZoom } from './use-zoom.ts'

// What browsers show without a transformation.
const SHOWN = new Set(['jpeg', 'png', 'webp', 'gif', 'avif', 'svg'])
// A larger picture is loaded when it is enlarged.
const SMALL_BYTES = 400_000
const STEP = 0.01
const MOVES: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** A picture that can be enlarged, and a click on which sets the focal point. */
export function Picture({ file }: { file: FileWithDerivatives }) {
  const isShown = SHOWN.has(file.format)
  const sizes =
    isShown && file.size <= SMALL_BYTES ? [''] : ['w=1600&f=auto', isShown ? '' : `w=${SIDE_MAX}&f=auto`]
  const { urls, error } = useDelivery(file, sizes)
  const { data: info } = useQuery(infoQuery(useClient(), file))
  const mayEdit = useMay('editor')
  const frame = useRef<HTMLDivElement>(null)
  const image = useRef<HTMLImageElement>(null)
  const { view, zoom, pan, fit: showWhole, handlers } = useZoom(frame, image)
  const [isPicking, setPicking] = useState(false)
  const [failures, setFailures] = useState(0)
  const [isLoaded, setLoaded] = useState(false)
  const { point, setPoint } = useFocalPoint(file)
  if (error) return <NoPreview file={file} error={error} />
  if (urls && failures >= urls.length) return <NoPreview file={file} />

  const wanted = Math.max(failures, view.scale > 1 ? sizes.length - 1 : 0)
  const placeholder = !isLoaded && info?.thumbHash && thumbHashToDataUrl(info.thumbHash)
  const pick = ({ clientX, clientY }: MouseEvent) => {
    const { left, top, width, height } = image.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1)
    setPoint(rounded({ x: (clientX - left) / width, y: (clientY - top) / height }))
  }
  function onKeyDown(event: KeyboardEvent): void {
    const [x, y] = MOVES[event.key] ?? []
    const isHandled = () => {
      event.preventDefault()
      event.stopPropagation()
    }
    if (event.key === '+' || event.key === '=') zoom(1.5)
    else if (event.key === '-') zoom(1 / 1.5)
    else if (event.key === '0') showWhole()
    else if (event.key === 'Escape' && isPicking) setPicking(false)
    else if (x !== undefined && y !== undefined && isPicking) {
      const { x: left, y: top } = point ?? { x: 0.5, y: 0.5 }
      const step = event.shiftKey ? 10 * STEP : STEP
      setPoint(rounded({ x: left + x * step, y: top + y * step }))
    } else if (x !== undefined && y !== undefined && view.scale > 1) pan(-60 * x, -60 * y)
    else return
    isHandled()
  }
  return (
    <div className="group relative h-full">
      {/* biome-ignore lint/a11y/useSemanticElements: an image cannot have the focus and keys */}
      <div
        ref={frame}
        role="group"
        aria-label={isPicking ? DETAILS.focalHelp : DETAILS.pictureHelp}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys +, - and the arrows move the picture
        tabIndex={0}
        onKeyDown={onKeyDown}
        className={clsx(
          'flex h-full touch-none select-none items-center justify-center overflow-hidden outline-offset-[-2px]',
          isPicking
            ? 'cursor-crosshair'
            : view.scale > 1
              ? 'cursor-grab active:cursor-grabbing'
              : 'cursor-zoom-in',
        )}
        {...(isPicking ? { onClick: pick } : handlers)}
      >
        <div
          className="relative flex max-h-full max-w-full"
          style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
        >
          {urls && (
            <img
              ref={image}
              src={urls[Math.min(wanted, urls.length - 1)]}
              alt={file.originalName}
              draggable={false}
              onLoad={() => setLoaded(true)}
              onError={() => setFailures(wanted + 1)}
              {...(info?.width && info.height && { width: info.width, height: info.height })}
              className={clsx(
                'max-h-(--stage) max-w-full object-contain',
                // An SVG may have no size of its own.
                file.format === 'svg' ? 'h-[calc(var(--stage)*0.8)]' : 'w-auto',
                info?.hasAlpha && 'checkered',
              )}
              {...(placeholder && {
                style: { background: `url(${placeholder}) center / 100% 100% no-repeat` },
              })}
            />
          )}
          {point && isLoaded && (isPicking || view.scale === 1) && (
            <span
              aria-hidden="true"
              data-testid="focal-point"
              className={clsx(
                'pointer-events-none absolute size-5 -translate-1/2 rounded-full border-2 border-white shadow-floating ring-1 ring-black/60',
                isPicking ? 'bg-accent/60' : 'opacity-70',
              )}
              style={{ left: `${100 * point.x}%`, top: `${100 * point.y}%` }}
            />
          )}
        </div>
      </div>
      <div className="absolute right-2 bottom-2 flex gap-0.5 rounded-lg border border-line bg-raised p-0.5 shadow-raised">
        {mayEdit && (
          <IconButton
            label={isPicking ? DETAILS.focalEnd : DETAILS.focalBegin}
            size="small"
            aria-pressed={isPicking}
            className={isPicking ? 'bg-accent-soft text-accent-ink' : ''}
            onClick={() => {
              showWhole()
              setPicking(!isPicking)
              frame.current?.focus()
            }}
          >
            <Crosshair />
          </IconButton>
        )}
        <IconButton
          label={DETAILS.zoomOut}
          size="small"
          disabled={view.scale <= 1}
          onClick={() => zoom(1 / 1.5)}
        >
          <ZoomOut />
        </IconButton>
        <IconButton label={DETAILS.zoomIn} size="small" onClick={() => zoom(1.5)}>
          <ZoomIn />
        </IconButton>
        <IconButton label={DETAILS.fit} size="small" disabled={view.scale <= 1} onClick={showWhole}>
          <Maximize />
        </IconButton>
      </div>
      {isPicking && (
        <p className="pointer-events-none absolute top-2 left-1/2 -translate-x-1/2 whitespace-nowrap rounded-full bg-raised px-3 py-1 text-xs shadow-floating">
          {DETAILS.focalHelp}
        </p>
      )}
    </div>
  )
}

// The service rounds to four digits.
function rounded({ x, y }: Point): Point {
  const within = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 1e4) / 1e4
  return { x: within(x), y: within(y) }
}
