import { useQuery } from '@tanstack/react-query'
import { Building2, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useMay, useSession } from '../../api/session.ts'
import { useCommands } from '../../layout/commands/commands.ts'
import { CLIENTS } from '../../texts/clients.ts'
import { Button } from '../../ui/button.tsx'
import { ListCard } from '../../ui/list-card.tsx'
import { OnceDialog, type ShownOnce } from '../../ui/overlays/once-dialog.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { clientsQuery } from './data.ts'
import { ClientsTable, MemberClientsTable } from './table.tsx'

/** The clients: for owners all of them, with their management; for others those that the member may see. */
export function ClientsPage() {
  return useMay('owner') ? <AllClients /> : <ClientsOfMember />
}

function ClientsOfMember() {
  const { clients } = useSession()
  return (
    <Page title={CLIENTS.title} description={CLIENTS.ofMember}>
      <Card isFlush>
        {clients.length > 0 ? (
          <MemberClientsTable clients={clients} />
        ) : (
          <EmptyState icon={<Building2 />} title={CLIENTS.emptyTitle}>
            {CLIENTS.noneOfMember}
          </EmptyState>
        )}
      </Card>
    </Page>
  )
}

function AllClients() {
  const query = useQuery(clientsQuery)
  const [isCreating, setCreating] = useState(false)
  const [issued, setIssued] = useState<ShownOnce>()
  useCommands(
    useMemo(
      () => [
        {
          id: 'create-client',
          title: CLIENTS.create,
          group: CLIENTS.title,
          icon: <Plus aria-hidden="true" />,
          shortcut: 'n',
          run: () => setCreating(true),
        },
      ],
      [],
    ),
  )
  const create = (
    <Button
      look="primary"
      icon={<Plus aria-hidden="true" className="size-4" />}
      onClick={() => setCreating(true)}
    >
      {CLIENTS.create}
    </Button>
  )
  return (
    <Page
      title={CLIENTS.title}
      description={CLIENTS.description}
      actions={query.data?.length ? create : undefined}
    >
      <ListCard
        query={query}
        rows={query.data}
        skeleton={{ rows: 4, rowHeight: 56 }}
        empty={
          <EmptyState icon={<Building2 />} title={CLIENTS.emptyTitle} actions={create}>
            {CLIENTS.emptyText}
          </EmptyState>
        }
      >
        {(clients) => <ClientsTable clients={clients} />}
      </ListCard>
      {isCreating && <CreateDialog onClose={() => setCreating(false)} onCreated={setIssued} />}
      {issued && <OnceDialog shown={issued} done={CLIENTS.done} onClose={() => setIssued(undefined)} />}
    </Page>
  )
}
