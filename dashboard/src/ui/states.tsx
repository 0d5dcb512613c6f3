import { clsx } from 'clsx'
import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { COMMON } from '../texts/common.ts'
import { Button } from './button.tsx'

/** What is shown instead of an empty list: what belongs here, and how to begin. */
export function EmptyState({
  icon,
  title,
  children,
  actions,
  className,
}: {
  icon: ReactNode
  title: ReactNode
  children?: ReactNode
  actions?: ReactNode
  className?: string
}) {
  return (
    <div className={clsx('flex flex-col items-center justify-center px-6 py-16 text-center', className)}>
      <span
        aria-hidden="true"
        className="mb-4 flex size-12 items-center justify-center rounded-xl border border-line bg-surface text-muted shadow-raised [&>svg]:size-6"
      >
        {icon}
      </span>
      <h2 className="font-semibold text-lg">{title}</h2>
      {children && <div className="mt-1 max-w-md text-balance text-muted">{children}</div>}
      {actions && <div className="mt-5 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  )
}

/** What is shown instead of something that could not be loaded. `onRetry`: usually `refetch` of the query. */
export function ErrorState({
  error,
  title = COMMON.loadFailed,
  onRetry,
  className,
}: {
  error: unknown
  title?: string
  onRetry?: () => void
  className?: string
}) {
  const requestId = error instanceof Error && 'requestId' in error ? error.requestId : undefined
  return (
    <div
      role="alert"
      className={clsx('flex flex-col items-center justify-center px-6 py-16 text-center', className)}
    >
      <CircleAlert aria-hidden="true" className="mb-3 size-8 text-danger-ink" />
      <h2 className="font-semibold text-lg">{title}</h2>
      <p className="mt-1 max-w-md text-balance text-muted first-letter:uppercase">
        {error instanceof Error ? error.message : String(error)}
      </p>
      {typeof requestId === 'string' && (
        <p className="mt-2 font-mono text-faint text-xs">
          {COMMON.requestId} {requestId}
        </p>
      )}
      {onRetry && (
        <Button className="mt-5" onClick={onRetry}>
          {COMMON.retry}
        </Button>
      )}
    </div>
  )
}

/** A message within a page, which stays there. */
export function Notice({
  tone = 'warning',
  children,
}: {
  tone?: 'warning' | 'danger' | 'success' | 'accent'
  children: ReactNode
}) {
  const tones = {
    warning: 'bg-warning-soft text-warning-ink',
    danger: 'bg-danger-soft text-danger-ink',
    success: 'bg-success-soft text-success-ink',
    accent: 'bg-accent-soft text-accent-ink',
  }
  return (
    <div
      role={tone === 'danger' ? 'alert' : 'status'}
      className={clsx('rounded-md px-3 py-2 text-sm', tones[tone])}
    >
      {children}
    </div>
  )
}
