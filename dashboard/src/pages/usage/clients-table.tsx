import { useState } from 'react'
import { formatBytes, formatNumber, formatPercent } from '../../ui/format.ts'
import { Checkbox } from '../../ui/forms/choices.tsx'
import { Card } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Swatch } from './chart.tsx'
import { COLOURS_MAX } from './colours.ts'
import { type ClientUsage, cacheRate, formatValue, type Metric } from './report.ts'
import { USAGE } from './texts.ts'

const ORDERS: Record<string, (client: ClientUsage) => number | string> = {
  name: ({ name }) => name.toLowerCase(),
  stored: ({ storedBytes }) => storedBytes ?? 0,
  deliveries: ({ totals }) => totals.deliveries,
  bytes: ({ totals }) => totals.bytes,
  transformations: ({ totals }) => totals.transformations,
  cacheRate: ({ totals }) => cacheRate(totals) ?? -1,
  errors: ({ totals }) => totals.errors,
}

/** The totals of each client. Chosen ones get a line of their own in the chart. */
export function ClientsTable({
  clients,
  compared,
  onCompare,
}: {
  clients: readonly ClientUsage[]
  /** The ids of the chosen clients, in the order of their colours. */
  compared: readonly string[]
  onCompare: (ids: readonly string[]) => void
}) {
  const [sort, setSort] = useState({ key: 'deliveries', isDescending: true })
  const order = ORDERS[sort.key] ?? ORDERS.deliveries
  const rows = order
    ? clients.toSorted((a, b) => compare(order(a), order(b)) * (sort.isDescending ? -1 : 1))
    : clients
  const numeric = (key: Metric, hiddenBelow?: 'sm' | 'md' | 'lg'): Column<ClientUsage> => ({
    key,
    header: USAGE.metrics[key],
    isNumeric: true,
    isSortable: true,
    ...(hiddenBelow && { hiddenBelow }),
    cell: ({ totals }) => formatValue(key, totals[key]),
  })
  const columns: Array<Column<ClientUsage>> = [
    {
      key: 'compare',
      header: USAGE.compare,
      isHeaderHidden: true,
      className: 'w-10 pr-0!',
      cell: ({ id, name }) => (
        <Checkbox
          checked={compared.includes(id)}
          isDisabled={!compared.includes(id) && compared.length >= COLOURS_MAX}
          onChange={(isChosen) =>
            onCompare(isChosen ? [...compared, id] : compared.filter((other) => other !== id))
          }
          label={USAGE.compareClient(name)}
          isLabelHidden
        />
      ),
    },
    {
      key: 'name',
      header: USAGE.client,
      isSortable: true,
      className: 'w-full max-w-0',
      cell: ({ id, name }) => (
        <span className="flex items-center gap-2">
          {compared.includes(id) && <Swatch at={compared.indexOf(id)} />}
          <span className="truncate font-medium" title={name}>
            {name}
          </span>
        </span>
      ),
    },
    {
      key: 'stored',
      header: USAGE.stored,
      isNumeric: true,
      isSortable: true,
      hiddenBelow: 'sm',
      cell: ({ storedBytes }) => (storedBytes === undefined ? '–' : formatBytes(storedBytes)),
    },
    numeric('deliveries'),
    numeric('bytes'),
    numeric('transformations', 'lg'),
    {
      key: 'cacheRate',
      header: USAGE.cacheRate,
      isNumeric: true,
      isSortable: true,
      hiddenBelow: 'lg',
      cell: ({ totals }) => {
        const rate = cacheRate(totals)
        return rate === undefined ? '–' : formatPercent(rate)
      },
    },
    numeric('errors', 'md'),
  ]
  const stored = clients.reduce((sum, { storedBytes = 0 }) => sum + storedBytes, 0)
  return (
    <Card
      isFlush
      title={USAGE.clients}
      description={USAGE.clientsText(COLOURS_MAX)}
      actions={
        stored > 0 && (
          <span className="self-center whitespace-nowrap text-muted text-sm" title={formatNumber(stored)}>
            {USAGE.storedTotal(formatBytes(stored))}
          </span>
        )
      }
    >
      <Table
        label={USAGE.clients}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        sort={sort}
        onSort={(key) =>
          setSort({ key, isDescending: key === sort.key ? !sort.isDescending : key !== 'name' })
        }
      />
    </Card>
  )
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'string' || typeof b === 'string') return String(a).localeCompare(String(b))
  return a - b
}
