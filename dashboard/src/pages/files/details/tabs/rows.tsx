import { Fragment, type ReactNode } from 'react'
import { Skeleton } from '../../../../ui/skeleton.tsx'

/** A label and its value. */
export type Row = readonly [label: string, value: ReactNode]

/** Labels and values. */
export function Rows({ rows, isLoading = false }: { rows: readonly Row[]; isLoading?: boolean }) {
  return (
    <dl className="grid grid-cols-[minmax(6.5rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
      {rows.map(([label, value]) => (
        <Fragment key={label}>
          <dt className="text-muted">{label}</dt>
          <dd className="break-words">{value}</dd>
        </Fragment>
      ))}
      {isLoading && (
        <>
          <Skeleton className="h-5 w-20" />
          <Skeleton className="h-5 w-32" />
        </>
      )}
    </dl>
  )
}
