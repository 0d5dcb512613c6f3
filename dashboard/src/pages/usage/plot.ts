import uPlot from 'uplot'
import { colourOf, resolvedColour } from './colours.ts'
import { shortDay } from './period.ts'

/** One line or one row of bars. */
export interface Series {
  /** Two clients may have the same name. */
  id: string
  name: string
  values: readonly number[]
}

const DAY = 86_400
const HEIGHT = 280
// Whole days, weeks and months.
const STEPS = [1, 2, 7, 14, 30, 60, 90].map((days) => days * DAY)

/** Draws a chart: bars for one series, lines for several. `onMove`: the index of the day at the cursor. */
export function drawPlot(
  element: HTMLElement,
  {
    days,
    series,
    format,
    onMove,
  }: {
    days: readonly string[]
    series: readonly Series[]
    format: (value: number) => string
    onMove: (index: number | undefined) => void
  },
): uPlot {
  const colour = (name: string) => resolvedColour(element, name)
  const grid = { stroke: colour('var(--line)'), width: 1 }
  const axis = { stroke: colour('var(--muted)'), font: `12px ${getComputedStyle(element).fontFamily}` }
  const bars = uPlot.paths.bars?.({ size: [0.64, 36], radius: 0.12 })
  const isSingle = series.length === 1
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      padding: [12, 8, 0, 0],
      legend: { show: false },
      // Days are in UTC.
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      cursor: { y: false, drag: { x: false, y: false }, points: { size: isSingle ? 0 : 8 } },
      scales: {
        x: { range: (_, min, max) => [min - DAY / 2, max + DAY / 2] },
        // At least 4, so that the marks of the axis are whole numbers.
        y: { range: (_, __, max) => [0, Math.max(4, (max ?? 0) * 1.08)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          ticks: { show: false },
          incrs: STEPS,
          size: 32,
          space: 56,
          values: (_, marks) => marks.map((mark) => shortDay(mark * 1000)),
        },
        {
          ...axis,
          grid,
          ticks: { show: false },
          size: 60,
          space: 44,
          values: (_, marks) => marks.map(format),
        },
      ],
      series: [
        {},
        ...series.map((_, at): uPlot.Series => {
          const stroke = colour(colourOf(at))
          return isSingle && bars
            ? { stroke, fill: stroke, width: 0, paths: bars, points: { show: false } }
            : { stroke, width: 2, points: { show: days.length === 1 } }
        }),
      ],
      hooks: { setCursor: [({ cursor }) => onMove(cursor.idx ?? undefined)] },
    },
    [days.map((day) => Date.parse(day) / 1000), ...series.map(({ values }) => [...values])],
    element,
  )
}

/** Moves the cursor to a day. Undefined hides it. */
export function moveTo(plot: uPlot, index: number | undefined): void {
  const at = index === undefined ? undefined : plot.data[0][index]
  plot.setCursor(
    at === undefined ? { left: -10, top: -10 } : { left: plot.valToPos(at, 'x'), top: plot.bbox.height / 4 },
  )
}

/** Where a day is, in pixels from the left edge of the chart. */
export function leftOf(plot: uPlot, index: number): number {
  return plot.valToPos(plot.data[0][index] ?? 0, 'x') + plot.bbox.left / devicePixelRatio
}
