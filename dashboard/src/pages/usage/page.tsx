import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ChartColumn, Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { USAGE_DAYS_MAX, USAGE_ROWS_MAX } from '../../../../client/generated/limits.ts'
import { installation } from '../../api/clients.ts'
import { nameOf, useSession } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import { ChartCard } from './chart-card.tsx'
import { ClientsTable } from './clients-table.tsx'
import { saveCsv } from './csv.ts'
import { daysOf, lastDays, lengthOf, type Period, periodBefore } from './period.ts'
import { PeriodPicker } from './period-picker.tsx'
import { clientsOf, METRICS, type Metric, totalsOf } from './report.ts'
import { USAGE } from './texts.ts'
import { Tiles } from './tiles.tsx'

const POLL_MS = 60_000

/** Usage by day and client, for owners. */
export function UsagePage() {
  const { clients: known } = useSession()
  const [period, setPeriod] = useState<Period>(() => lastDays(30))
  const [metric, setMetric] = useState<Metric>('deliveries')
  const [comparedIds, setComparedIds] = useState<readonly string[]>([])
  const length = lengthOf(period)
  const before =
    2 * length <= USAGE_DAYS_MAX && 2 * length * known.length <= USAGE_ROWS_MAX
      ? periodBefore(period)
      : undefined
  const first = before?.from ?? period.from
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['usage', first, period.to],
    queryFn: ({ signal }) => installation.clients.usage({ from: first, to: period.to, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  })
  const days = useMemo(() => daysOf(period), [period])
  const rows = useMemo(
    () => data?.days.filter(({ day }) => day >= period.from && day <= period.to),
    [data, period],
  )
  const clients = useMemo(
    () =>
      rows &&
      clientsOf(
        rows,
        known.map((client) => ({ id: client.id, name: nameOf(client) })),
      ),
    [rows, known],
  )
  const compared = useMemo(
    () => comparedIds.flatMap((id) => clients?.find((client) => client.id === id) ?? []),
    [comparedIds, clients],
  )
  const totals = totalsOf(rows ?? [])
  const isEmpty = METRICS.every((name) => totals[name] === 0)
  return (
    <Page
      title={USAGE.title}
      description={USAGE.description}
      actions={
        <>
          <PeriodPicker period={period} onChange={setPeriod} />
          <Button
            icon={<Download aria-hidden="true" className="size-4" />}
            disabled={!rows || rows.length === 0}
            onClick={() => rows && saveCsv(rows, `usage-${period.from}-${period.to}.csv`)}
          >
            {USAGE.exportCsv}
          </Button>
        </>
      }
    >
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {rows && clients && (
        <div className="flex flex-col gap-5" aria-busy={isPlaceholderData}>
          <Tiles
            totals={totals}
            before={before && data && totalsOf(data.days.filter(({ day }) => day < period.from))}
            days={length}
            value={metric}
            onChange={setMetric}
          />
          {isEmpty ? (
            <Card>
              <EmptyState icon={<ChartColumn />} title={USAGE.emptyTitle}>
                {USAGE.emptyText}
              </EmptyState>
            </Card>
          ) : (
            <ChartCard metric={metric} days={days} clients={clients} compared={compared} />
          )}
          <ClientsTable clients={clients} compared={comparedIds} onCompare={setComparedIds} />
        </div>
      )}
    </Page>
  )
}

function Loading() {
  return (
    <div className="flex flex-col gap-5">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
        {METRICS.map((metric) => (
          <Skeleton key={metric} className="h-24 rounded-lg" />
        ))}
      </div>
      <Skeleton className="h-96 rounded-lg" />
      <Skeleton className="h-64 rounded-lg" />
    </div>
  )
}
