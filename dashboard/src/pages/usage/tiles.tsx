import * as ToggleGroup from '@radix-ui/react-toggle-group'
import { clsx } from 'clsx'
import { formatPercent } from '../../ui/format.ts'
import {
  cacheRate,
  errorRate,
  formatShort,
  formatValue,
  METRICS,
  type Metric,
  type Totals,
} from './report.ts'
import { USAGE } from './texts.ts'

/** The totals of the period. Each chooses what the chart shows. */
export function Tiles({
  totals,
  before,
  days,
  value,
  onChange,
}: {
  totals: Totals
  /** The totals of the period before. Undefined: not known. */
  before: Totals | undefined
  days: number
  value: Metric
  onChange: (metric: Metric) => void
}) {
  return (
    <ToggleGroup.Root
      type="single"
      aria-label={USAGE.chooseMetric}
      value={value}
      onValueChange={(next) => next && onChange(next as Metric)}
      className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6"
    >
      {METRICS.map((metric) => {
        const note = noteOf(metric, { totals, before })
        return (
          <ToggleGroup.Item
            key={metric}
            value={metric}
            title={USAGE.metricText[metric]}
            className={clsx(
              'flex min-w-0 flex-col items-start rounded-lg border bg-surface px-3.5 py-3 text-left shadow-raised transition-colors hover:border-line-strong',
              metric === value ? 'border-accent ring-1 ring-accent' : 'border-line',
            )}
          >
            <span className="text-muted text-sm">{USAGE.metrics[metric]}</span>
            <span
              className="mt-0.5 font-semibold text-xl tabular-nums tracking-tight"
              title={formatValue(metric, totals[metric])}
            >
              {formatShort(metric, totals[metric])}
            </span>
            <span
              className="mt-0.5 min-h-4 max-w-full truncate text-muted text-xs tabular-nums"
              title={note?.title(days)}
            >
              {note?.text}
            </span>
          </ToggleGroup.Item>
        )
      })}
    </ToggleGroup.Root>
  )
}

interface Note {
  text: string
  title: (days: number) => string
}

function noteOf(
  metric: Metric,
  { totals, before }: { totals: Totals; before: Totals | undefined },
): Note | undefined {
  const share =
    metric === 'cacheHits' ? cacheRate(totals) : metric === 'errors' ? errorRate(totals) : undefined
  if (share !== undefined && (metric === 'cacheHits' || metric === 'errors')) {
    const text = USAGE.shareOf[metric](formatPercent(share))
    return { text, title: () => text }
  }
  if (!before || totals[metric] === 0) return undefined
  if (before[metric] === 0) return { text: USAGE.isNew, title: (days) => USAGE.before(USAGE.isNew, days) }
  const change = totals[metric] / before[metric] - 1
  const text = `${change < 0 ? '−' : '+'}${formatPercent(Math.abs(change))}`
  return { text, title: (days) => USAGE.before(text, days) }
}
