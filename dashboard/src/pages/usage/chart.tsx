import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type uPlot from 'uplot'
import { useTheme } from '../../ui/theme.ts'
import { colourOf } from './colours.ts'
import { longDay, today } from './period.ts'
import { drawPlot, leftOf, moveTo, type Series } from './plot.ts'
import { USAGE } from './texts.ts'

/** A chart by day. The arrow keys move through the days, and screen readers read the values of each. */
export function Chart({
  label,
  days,
  series,
  format,
  formatShort,
}: {
  label: string
  days: readonly string[]
  series: readonly Series[]
  format: (value: number) => string
  formatShort: (value: number) => string
}) {
  const { isDark } = useTheme()
  const area = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [at, setAt] = useState<number>()

  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    const element = area.current
    if (!element) return undefined
    const drawn = drawPlot(element, { days, series, format: formatShort, onMove: setAt })
    plot.current = drawn
    const resizing = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: drawn.height }),
    )
    resizing.observe(element)
    return () => {
      resizing.disconnect()
      drawn.destroy()
      plot.current = undefined
      setAt(undefined)
    }
  }, [days, series, formatShort, isDark])

  const last = days.length - 1
  const move = (event: KeyboardEvent) => {
    const index = { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[
      event.key
    ]
    if (index === undefined || !plot.current) return
    event.preventDefault()
    moveTo(plot.current, Math.min(last, Math.max(0, index)))
  }
  const shownAt = at !== undefined && at <= last ? at : undefined
  const valuesAt = (index: number) =>
    series.map(({ id, name, values }) => ({ id, name, value: format(values[index] ?? 0) }))
  const day = days[shownAt ?? last] ?? ''
  const text = valuesAt(shownAt ?? last)
    .map(({ name, value }) => `${name} ${value}`)
    .join(', ')
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={`${label}. ${USAGE.chartHelp}`}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={shownAt ?? last}
      aria-valuetext={`${longDay(day)}: ${text}`}
      onKeyDown={move}
      onBlur={() => plot.current && moveTo(plot.current, undefined)}
      className="relative rounded-md"
    >
      <div ref={area} className="h-70 overflow-hidden" />
      {shownAt !== undefined && plot.current && (
        <div
          aria-hidden="true"
          className="pointer-events-none absolute top-2 z-10 min-w-36 rounded-md border border-line bg-raised px-3 py-2 text-sm shadow-floating"
          style={
            shownAt > last / 2
              ? { right: `calc(100% - ${leftOf(plot.current, shownAt) - 12}px)` }
              : { left: leftOf(plot.current, shownAt) + 12 }
          }
        >
          <p className="mb-1 whitespace-nowrap text-muted text-xs">
            {longDay(day)}
            {day === today() && ` ${USAGE.today}`}
          </p>
          {valuesAt(shownAt).map(({ id, name, value }, index) => (
            <p key={id} className="flex items-center gap-2 whitespace-nowrap">
              <Swatch at={index} />
              <span className="max-w-40 flex-1 truncate">{name}</span>
              <span className="pl-3 font-medium tabular-nums">{value}</span>
            </p>
          ))}
        </div>
      )}
    </div>
  )
}

/** The colour of a line, before its name. */
export function Swatch({ at }: { at: number }) {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-2.5 shrink-0 rounded-sm"
      style={{ background: colourOf(at) }}
    />
  )
}
