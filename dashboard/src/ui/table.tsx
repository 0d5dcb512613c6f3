import { clsx } from 'clsx'
import { ArrowDown, ArrowUp } from 'lucide-react'
import type { ReactNode } from 'react'

/** One column of a table. */
export interface Column<Row> {
  key: string
  header: ReactNode
  cell: (row: Row) => ReactNode
  /** Numbers are aligned at their end. */
  isNumeric?: boolean
  /** Left out below this width of the window. */
  hiddenBelow?: 'sm' | 'md' | 'lg'
  isSortable?: boolean
  /** The header is only read by screen readers, for example above buttons. */
  isHeaderHidden?: boolean
  className?: string
}

const HIDDEN = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden' }

/** A table of up to a few hundred rows. Lists of files have a virtual list of their own. */
export function Table<Row>({
  columns,
  rows,
  keyOf,
  label,
  sort,
  onSort,
  onRowClick,
}: {
  columns: ReadonlyArray<Column<Row>>
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The name for screen readers. */
  label: string
  sort?: { key: string; isDescending: boolean }
  onSort?: (key: string) => void
  /** An addition for the mouse: one cell must have a link or button that does the same. */
  onRowClick?: (row: Row) => void
}) {
  const classOf = (column: Column<Row>) =>
    clsx(
      column.isNumeric && 'text-right tabular-nums',
      column.hiddenBelow && HIDDEN[column.hiddenBelow],
      column.className,
    )
  return (
    // A scrolling area must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className="overflow-x-auto" tabIndex={0} aria-label={label}>
      <table className="w-full text-sm">
        <thead>
          <tr className="border-line border-b text-left text-muted">
            {columns.map((column) => {
              const isSorted = sort?.key === column.key
              const Arrow = sort?.isDescending ? ArrowDown : ArrowUp
              return (
                <th
                  key={column.key}
                  scope="col"
                  className={clsx('h-9 whitespace-nowrap px-4 font-medium', classOf(column))}
                  {...(isSorted && {
                    'aria-sort': sort.isDescending ? ('descending' as const) : ('ascending' as const),
                  })}
                >
                  {column.isSortable && onSort ? (
                    <button
                      type="button"
                      className={clsx(
                        'inline-flex items-center gap-1 hover:text-ink',
                        // The arrow before the name: the name is above its numbers.
                        column.isNumeric && 'flex-row-reverse',
                      )}
                      onClick={() => onSort(column.key)}
                    >
                      {column.header}
                      <Arrow aria-hidden="true" className={clsx('size-3.5', !isSorted && 'invisible')} />
                    </button>
                  ) : (
                    <span className={column.isHeaderHidden ? 'sr-only' : ''}>{column.header}</span>
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className={clsx('hover:bg-hover', onRowClick && 'cursor-pointer')}
              {...(onRowClick && { onClick: () => onRowClick(row) })}
            >
              {columns.map((column) => (
                <td key={column.key} className={clsx('h-12 px-4 py-2', classOf(column))}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
