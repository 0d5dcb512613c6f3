import { clsx } from 'clsx'
import { type ReactNode, useEffect } from 'react'

/** The frame of a page: its title, its actions and its content. `isWide`: uses the whole width, for lists of files. */
export function Page({
  title,
  heading,
  description,
  actions,
  isWide = false,
  children,
}: {
  /** The title of the browser's tab. */
  title: string
  /** Shown instead of the title, for example breadcrumbs. */
  heading?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  isWide?: boolean
  children: ReactNode
}) {
  useTitle(title)
  return (
    <div className={clsx('mx-auto w-full px-4 pt-5 pb-12 md:px-8 md:pt-7', !isWide && 'max-w-5xl')}>
      <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 max-w-full">
          {heading ?? <h1 className="font-semibold text-xl tracking-tight">{title}</h1>}
          {description && <p className="mt-1 max-w-2xl text-muted">{description}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Sluice`
  }, [title])
}

/** A framed part of a page. */
export function Card({
  title,
  description,
  actions,
  isFlush = false,
  className,
  children,
}: {
  title?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  /** Without a margin around the content, for tables. */
  isFlush?: boolean
  className?: string
  children?: ReactNode
}) {
  return (
    <section
      className={clsx('overflow-hidden rounded-lg border border-line bg-surface shadow-raised', className)}
    >
      {title && (
        <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 py-3 not-only:border-line not-only:border-b">
          <div className="min-w-0 flex-1 basis-60">
            <h2 className="font-semibold">{title}</h2>
            {description && <p className="text-muted text-sm">{description}</p>}
          </div>
          {actions && <div className="flex gap-2">{actions}</div>}
        </header>
      )}
      {children && <div className={isFlush ? '' : 'p-4'}>{children}</div>}
    </section>
  )
}
