import { useQuery } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { installation } from '../../api/clients.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { Checks } from './checks.tsx'
import { About } from './facts.tsx'
import { Plugins } from './plugins.tsx'
import { Settings } from './settings.tsx'
import { Status } from './status.tsx'
import { HEALTH } from './texts.ts'

const POLL_MS = 15_000

/** The state of the installation, for owners. */
export function HealthPage() {
  const {
    data: system,
    error,
    refetch,
    isFetching,
    dataUpdatedAt,
  } = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => installation.system({ signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Page
      title={HEALTH.title}
      description={HEALTH.description}
      actions={
        <Button
          icon={<RefreshCw aria-hidden="true" className="size-4" />}
          isBusy={isFetching}
          onClick={() => void refetch()}
        >
          {HEALTH.checkAgain}
        </Button>
      }
    >
      {error && !system && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!system && !error && <Loading />}
      {system && (
        <div className="flex flex-col gap-5">
          <Status system={system} checkedAt={dataUpdatedAt} error={error} />
          <div className="grid gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
            <Checks checks={system.checks} />
            <About system={system} readAt={dataUpdatedAt} />
          </div>
          <Plugins plugins={system.plugins} />
          <Settings settings={system.settings} />
        </div>
      )}
    </Page>
  )
}

function Loading() {
  return (
    <div className="flex flex-col gap-5">
      <Skeleton className="h-18 w-full rounded-lg" />
      <div className="grid gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Skeleton className="h-72 rounded-lg" />
        <Skeleton className="h-72 rounded-lg" />
      </div>
      <Skeleton className="h-96 rounded-lg" />
    </div>
  )
}
