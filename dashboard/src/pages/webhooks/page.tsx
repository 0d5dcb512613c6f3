import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Building2, RotateCw, Send } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { installation, libraryFor } from '../../api/clients.ts'
import { firstClient } from '../../api/last-client.ts'
import { nameOf, useMay, useSession } from '../../api/session.ts'
import { CLIENTS } from '../../texts/clients.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/forms/select.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import type { Scope, Selection } from './data.ts'
import { Deliveries } from './deliveries.tsx'
import { Filters } from './filters.tsx'
import { Receivers } from './receivers.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { TestDialog } from './test-dialog.tsx'
import { WEBHOOKS } from './texts.ts'

const EVERYTHING: Selection = {
  status: 'all',
  period: '604800',
  event: 'all',
  receiver: 'all',
  client: 'all',
}

/** The deliveries of events: for owners those of all clients, for other members those of one of their clients. */
export function WebhooksPage() {
  const { clients } = useSession()
  const isOwner = useMay('owner')
  const mayChange = useMay('editor')
  const [clientId, setClientId] = useState(() => firstClient(clients)?.id)
  if (isOwner)
    return <WebhooksOf scope={{ webhooks: installation.webhooks, key: ['webhooks', ''], mayChange }} />
  if (clientId === undefined)
    return (
      <Page title={WEBHOOKS.title}>
        <EmptyState icon={<Building2 />} title={CLIENTS.emptyTitle}>
          {CLIENTS.noneOfMember}
        </EmptyState>
      </Page>
    )
  const { webhooks } = libraryFor(clientId)
  return (
    <WebhooksOf
      key={clientId}
      scope={{ webhooks, key: ['webhooks', clientId], mayChange }}
      choice={
        clients.length > 1 && (
          <Select
            aria-label={WEBHOOKS.client}
            className="w-44"
            value={clientId}
            onChange={setClientId}
            options={clients.map((one) => ({ value: one.id, label: nameOf(one) }))}
          />
        )
      }
    />
  )
}

function WebhooksOf({ scope, choice }: { scope: Scope; choice?: ReactNode }) {
  const queryClient = useQueryClient()
  const [selection, setSelection] = useState(EVERYTHING)
  const [isReplaying, setReplaying] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: [...scope.key, 'receivers'],
    queryFn: ({ signal }) => scope.webhooks.receivers({ signal }),
  })
  const reload = () => queryClient.invalidateQueries({ queryKey: scope.key })
  const test = useMutation({
    mutationFn: () => scope.webhooks.test(),
    onError: toast.failure,
  })
  const hasReceivers = data !== undefined && data.length > 0
  return (
    <Page
      title={WEBHOOKS.title}
      description={WEBHOOKS.description}
      actions={
        <>
          {choice}
          {hasReceivers && scope.mayChange && (
            <>
              <Button
                icon={<RotateCw aria-hidden="true" className="size-4" />}
                onClick={() => setReplaying(true)}
              >
                {WEBHOOKS.replayFailed}
              </Button>
              <Button
                look="primary"
                icon={<Send aria-hidden="true" className="size-4" />}
                isBusy={test.isPending}
                onClick={() => test.mutate()}
              >
                {WEBHOOKS.test}
              </Button>
            </>
          )}
        </>
      }
    >
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton className="h-96 w-full rounded-lg" />}
      {data && <Receivers receivers={data} />}
      {hasReceivers && (
        <>
          <Filters receivers={data} value={selection} onChange={setSelection} />
          <Deliveries scope={scope} selection={selection} onReplayed={reload} />
        </>
      )}
      {test.data && <TestDialog outcome={test.data} onClose={test.reset} />}
      {isReplaying && (
        <ReplayDialog
          scope={scope}
          selection={selection}
          onClose={() => setReplaying(false)}
          onReplayed={reload}
        />
      )}
    </Page>
  )
}
