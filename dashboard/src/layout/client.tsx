import { Outlet, useParams } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { useEffect } from 'react'
import { rememberClient } from '../api/last-client.ts'
import { useChosenClient } from '../api/session.ts'
import { EmptyState } from '../ui/states.tsx'
import { LAYOUT } from './texts.ts'

/** The pages of one client. */
export function ClientLayout() {
  const client = useChosenClient()
  const { clientId } = useParams({ strict: false })
  const id = client?.id
  useEffect(() => {
    if (id !== undefined) rememberClient(id)
  }, [id])
  if (!client) {
    return (
      <EmptyState icon={<SearchX />} title={clientId} className="min-h-[60vh]">
        {LAYOUT.unknownClient}
      </EmptyState>
    )
  }
  // A new client is a new page: nothing of the last one remains.
  return <Outlet key={client.id} />
}
