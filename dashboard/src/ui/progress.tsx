import * as Radix from '@radix-ui/react-progress'
import { clsx } from 'clsx'

/** How much is done, from 0 to 1. Undefined: not known yet. */
export function Progress({
  value,
  label,
  className,
}: {
  value: number | undefined
  label: string
  className?: string
}) {
  return (
    <Radix.Root
      value={value === undefined ? null : Math.round(value * 100)}
      aria-label={label}
      className={clsx('h-1.5 w-full overflow-hidden rounded-full bg-pressed', className)}
    >
      <Radix.Indicator
        className={clsx(
          'h-full rounded-full bg-accent transition-[width]',
          value === undefined && 'w-1/3 animate-pulse',
        )}
        {...(value !== undefined && { style: { width: `${value * 100}%` } })}
      />
    </Radix.Root>
  )
}
