import { ChartColumn, Table2 } from 'lucide-react'
import { useCallback, useMemo, useState } from 'react'
import { Segmented } from '../../ui/forms/choices.tsx'
import { Card } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Chart, Swatch } from './chart.tsx'
import { longDay } from './period.ts'
import type { Series } from './plot.ts'
import { type ClientUsage, formatShort, formatValue, type Metric, valuesOf } from './report.ts'
import { USAGE } from './texts.ts'

/** One measure by day, of all clients together or of some, as a chart or as a table. */
export function ChartCard({
  metric,
  days,
  clients,
  compared,
}: {
  metric: Metric
  days: readonly string[]
  clients: readonly ClientUsage[]
  /** The clients with a line of their own. Empty: all clients together. */
  compared: readonly ClientUsage[]
}) {
  const [view, setView] = useState<'chart' | 'table'>('chart')
  const series = useMemo((): Series[] => {
    if (compared.length > 0)
      return compared.map(({ id, name, rows }) => ({ id, name, values: valuesOf(rows, { metric, days }) }))
    const rows = clients.flatMap((client) => client.rows)
    return [{ id: metric, name: USAGE.metrics[metric], values: valuesOf(rows, { metric, days }) }]
  }, [clients, compared, metric, days])
  const format = useCallback((value: number) => formatValue(metric, value), [metric])
  const formatAxis = useCallback((value: number) => formatShort(metric, value), [metric])
  const label = USAGE.chartOf(USAGE.metrics[metric])
  return (
    <Card
      title={label}
      description={USAGE.metricText[metric]}
      isFlush={view === 'table'}
      actions={
        <Segmented
          label={USAGE.view}
          value={view}
          onChange={setView}
          options={[
            { value: 'chart', label: <ChartColumn aria-hidden="true" />, title: USAGE.chart },
            { value: 'table', label: <Table2 aria-hidden="true" />, title: USAGE.table },
          ]}
        />
      }
    >
      {view === 'chart' ? (
        <>
          <Chart label={label} days={days} series={series} format={format} formatShort={formatAxis} />
          {compared.length > 0 && (
            <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-1 pl-15 text-sm">
              {series.map(({ id, name }, at) => (
                <li key={id} className="inline-flex items-center gap-2">
                  <Swatch at={at} />
                  {name}
                </li>
              ))}
            </ul>
          )}
        </>
      ) : (
        <div className="max-h-96 overflow-y-auto">
          <DaysTable label={label} days={days} series={series} format={format} />
        </div>
      )}
    </Card>
  )
}

function DaysTable({
  label,
  days,
  series,
  format,
}: {
  label: string
  days: readonly string[]
  series: readonly Series[]
  format: (value: number) => string
}) {
  // The newest first.
  const rows = days.map((day, at) => ({ day, at })).reverse()
  const columns: Array<Column<(typeof rows)[number]>> = [
    {
      key: 'day',
      header: USAGE.day,
      cell: ({ day }) => <span className="whitespace-nowrap">{longDay(day)}</span>,
    },
    ...series.map(({ id, name, values }) => ({
      key: `of ${id}`,
      header: name,
      isNumeric: true,
      cell: ({ at }: { at: number }) => format(values[at] ?? 0),
    })),
  ]
  return <Table label={label} columns={columns} rows={rows} keyOf={({ day }) => day} />
}
