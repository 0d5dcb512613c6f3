import { type ErrorComponentProps, Link, Navigate, Outlet, useRouter } from '@tanstack/react-router'
import { Building2, Compass, Lock } from 'lucide-react'
import { firstClient } from '../api/last-client.ts'
import { useMay, useSession } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { useTitle } from '../ui/page.tsx'
import { Skeleton, SkeletonRows } from '../ui/skeleton.tsx'
import { EmptyState, ErrorState } from '../ui/states.tsx'
import { LAYOUT } from './texts.ts'

/** `/dashboard`: leads to the files of the client that was shown last. */
export function HomePage() {
  const { clients } = useSession()
  const isOwner = useMay('owner')
  const client = firstClient(clients)
  if (client)
    return <Navigate to="/c/$clientId/files/$" params={{ clientId: client.id, _splat: '' }} replace />
  return (
    <EmptyState
      icon={<Building2 />}
      title={LAYOUT.noClientsTitle}
      className="min-h-[70vh]"
      actions={
        isOwner && (
          <Button asChild look="primary">
            <Link to="/clients">{LAYOUT.createClient}</Link>
          </Button>
        )
      }
    >
      {isOwner ? LAYOUT.noClientsOwner : LAYOUT.noClientsMember}
    </EmptyState>
  )
}

/** Only owners see the pages below. The service refuses their calls for all others too. */
export function OwnerLayout() {
  if (useMay('owner')) return <Outlet />
  return <EmptyState icon={<Lock />} title={LAYOUT.ownersOnly} className="min-h-[70vh]" />
}

/** While the script of a page is loading. */
export function LoadingPage() {
  return (
    <div className="mx-auto w-full max-w-[75rem] px-4 pt-5 md:px-8 md:pt-7">
      <Skeleton className="mb-6 h-7 w-40" />
      <div className="rounded-lg border border-line bg-surface">
        <SkeletonRows />
      </div>
    </div>
  )
}

/** 404. */
export function NotFoundPage() {
  useTitle(LAYOUT.notFoundTitle)
  return (
    <EmptyState
      icon={<Compass />}
      title={LAYOUT.notFoundTitle}
      className="min-h-[80vh]"
      actions={
        <Button asChild look="primary">
          <Link to="/">{LAYOUT.toFiles}</Link>
        </Button>
      }
    >
      {LAYOUT.notFoundText}
    </EmptyState>
  )
}

/** Instead of a page whose code has thrown. */
export function CrashedPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return <ErrorState error={error} title={LAYOUT.crashed} onRetry={retry} className="min-h-[70vh]" />
}
