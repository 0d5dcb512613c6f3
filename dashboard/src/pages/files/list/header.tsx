// biome-ignore-all lint/a11y/useSemanticElements: a virtual list has no table
// biome-ignore-all lint/a11y/useFocusableInteractive: one item has the focus, and the others receive it by keys
import { clsx } from 'clsx'
import { ArrowDown, ArrowUp } from 'lucide-react'
import type { Sort } from '../search.ts'
import { FILES } from '../texts.ts'
import { COLUMNS } from './row.tsx'

const HEADERS = [
  { by: 'name', label: FILES.columns.name, isDescendingFirst: false, className: '' },
  { by: 'key', label: FILES.columns.type, isDescendingFirst: false, className: 'max-sm:hidden' },
  { by: 'size', label: FILES.columns.size, isDescendingFirst: true, className: 'flex-row-reverse' },
  {
    by: 'uploaded',
    label: FILES.columns.date,
    isDescendingFirst: true,
    className: 'flex-row-reverse max-lg:hidden',
  },
] as const

/** The headers of the table, which sort it. */
export function Header({ sort, onSort }: { sort: Sort; onSort: (sort: Sort) => void }) {
  return (
    <div
      role="row"
      className={clsx(
        COLUMNS,
        'h-9 rounded-t-lg border border-line bg-surface font-medium text-muted text-sm',
      )}
    >
      <span role="columnheader" aria-label={FILES.selectColumn} />
      {HEADERS.map(({ by, label, isDescendingFirst, className }) => {
        const isSorted = sort === by || sort === `-${by}`
        const isDescending = isSorted ? sort.startsWith('-') : isDescendingFirst
        const Arrow = isDescending ? ArrowDown : ArrowUp
        const next = isSorted ? !isDescending : isDescendingFirst
        return (
          <span
            key={by}
            role="columnheader"
            className={clsx('flex', className)}
            {...(isSorted && {
              'aria-sort': isDescending ? ('descending' as const) : ('ascending' as const),
            })}
          >
            <button
              type="button"
              onClick={() => onSort(next ? `-${by}` : by)}
              className={clsx(
                'group inline-flex items-center gap-1 hover:text-ink',
                isSorted && 'text-ink',
                // A hidden arrow must not move the text from the numbers below it.
                className.startsWith('flex-row-reverse') && 'flex-row-reverse',
              )}
            >
              {label}
              <Arrow
                aria-hidden="true"
                className={clsx('size-3.5', !isSorted && 'opacity-0 group-hover:opacity-60')}
              />
            </button>
          </span>
        )
      })}
    </div>
  )
}
