import type { ReactNode } from 'react'
import { Logo } from '../../ui/logo.tsx'
import { useTitle } from '../../ui/page.tsx'

/** A page without navigation: sign-in and welcome. */
export function NarrowPage({
  title,
  subtitle,
  footer,
  children,
}: {
  title: string
  subtitle?: ReactNode
  footer?: ReactNode
  children: ReactNode
}) {
  useTitle(title)
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex justify-center">
          <Logo />
        </div>
        <div className="rounded-xl border border-line bg-surface p-6 shadow-raised sm:p-7">
          <h1 className="font-semibold text-xl tracking-tight">{title}</h1>
          {subtitle && <p className="mt-1 text-muted">{subtitle}</p>}
          <div className="mt-6">{children}</div>
        </div>
        {footer && <div className="mt-5 text-balance text-center text-muted text-sm">{footer}</div>}
      </div>
    </main>
  )
}
