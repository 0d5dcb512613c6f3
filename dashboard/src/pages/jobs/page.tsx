import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ListVideo } from 'lucide-react'
import { useState } from 'react'
import type { ListedJob } from '../../../../client/index.ts'
import { useClient } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Segmented } from '../../ui/forms/choices.tsx'
import { ListCard } from '../../ui/list-card.tsx'
import { Page } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { JobsTable } from './table.tsx'
import { JOBS } from './texts.ts'

type Shown = ListedJob['state'] | 'all'

const PAGE_SIZE = 50
// While a job is in progress, its bar moves; otherwise only new jobs can appear.
const POLL_MS = { moving: 1500, idle: 8000 }
const STATES = ['active', 'waiting', 'failed', 'done'] as const

/** Media jobs of a client. */
export function JobsPage() {
  const { client, sluice } = useClient()
  const [shown, setShown] = useState<Shown>('all')
  const query = useInfiniteQuery({
    queryKey: [client.id, 'jobs', shown],
    queryFn: ({ pageParam, signal }) =>
      sluice.jobs.page({
        limit: PAGE_SIZE,
        signal,
        ...(pageParam && { cursor: pageParam }),
        ...(shown !== 'all' && { state: shown }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) => {
      const listed = state.data?.pages.flatMap((page) => page.jobs) ?? []
      return listed.some(isMoving) ? POLL_MS.moving : POLL_MS.idle
    },
  })
  return (
    <Page
      title={JOBS.title}
      description={JOBS.description}
      actions={
        <Segmented
          label={JOBS.filter}
          value={shown}
          onChange={setShown}
          options={[
            { value: 'all', label: JOBS.all },
            ...STATES.map((state) => ({ value: state, label: JOBS.states[state] })),
          ]}
        />
      }
    >
      <ListCard
        query={query}
        rows={query.data?.pages.flatMap((page) => page.jobs)}
        skeleton={{ rowHeight: 56 }}
        empty={<NoJobs shown={shown} onShowAll={() => setShown('all')} />}
      >
        {(jobs) => <JobsTable jobs={jobs} />}
      </ListCard>
    </Page>
  )
}

const isMoving = ({ state }: ListedJob) => state === 'waiting' || state === 'active'

function NoJobs({ shown, onShowAll }: { shown: Shown; onShowAll: () => void }) {
  const { client } = useClient()
  if (shown !== 'all')
    return (
      <EmptyState
        icon={<ListVideo />}
        title={JOBS.noMatchTitle(JOBS.states[shown])}
        actions={<Button onClick={onShowAll}>{JOBS.showAll}</Button>}
      >
        {JOBS.noMatchText}
      </EmptyState>
    )
  return (
    <EmptyState
      icon={<ListVideo />}
      title={JOBS.emptyTitle}
      actions={
        <Button asChild>
          <Link to="/c/$clientId/playground/$" params={{ clientId: client.id, _splat: '' }}>
            {JOBS.tryPlayground}
          </Link>
        </Button>
      }
    >
      {JOBS.emptyText}
    </EmptyState>
  )
}
