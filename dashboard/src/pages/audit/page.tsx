import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { useState } from 'react'
import { installation } from '../../api/clients.ts'
import { nameOf, useSession } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/forms/select.tsx'
import { ListCard } from '../../ui/list-card.tsx'
import { Page } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { AuditTable } from './table.tsx'
import { AUDIT } from './texts.ts'

const PAGE_SIZE = 50
const ALL = 'all'

/** Changes by people, for owners. */
export function AuditPage() {
  const { clients, member: self } = useSession()
  const [member, setMember] = useState(ALL)
  const [client, setClient] = useState(ALL)
  const isFiltered = member !== ALL || client !== ALL
  const members = useQuery({
    queryKey: ['members'],
    queryFn: ({ signal }) => installation.members.list({ signal }),
  })
  const query = useInfiniteQuery({
    queryKey: ['audit', member, client],
    queryFn: ({ pageParam, signal }) =>
      installation.audit.page({
        limit: PAGE_SIZE,
        signal,
        ...(pageParam && { cursor: pageParam }),
        ...(member !== ALL && { member }),
        ...(client !== ALL && { client }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
  const known = members.data ?? [self]
  return (
    <Page
      title={AUDIT.title}
      description={AUDIT.description}
      actions={
        <>
          <Select
            aria-label={AUDIT.filterMember}
            className="w-40 sm:w-44"
            value={member}
            onChange={setMember}
            options={[
              { value: ALL, label: AUDIT.everyMember },
              ...known.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
          <Select
            aria-label={AUDIT.filterClient}
            className="w-40 sm:w-44"
            value={client}
            onChange={setClient}
            options={[
              { value: ALL, label: AUDIT.everyClient },
              ...clients.map((one) => ({ value: one.id, label: nameOf(one) })),
            ]}
          />
        </>
      }
    >
      <ListCard
        query={query}
        rows={query.data?.pages.flatMap((page) => page.entries)}
        skeleton={{ rows: 10 }}
        empty={
          <EmptyState
            icon={<ScrollText />}
            title={isFiltered ? AUDIT.noMatchTitle : AUDIT.emptyTitle}
            actions={
              isFiltered && (
                <Button
                  onClick={() => {
                    setMember(ALL)
                    setClient(ALL)
                  }}
                >
                  {AUDIT.clearFilters}
                </Button>
              )
            }
          >
            {isFiltered ? AUDIT.noMatchText : AUDIT.emptyText}
          </EmptyState>
        }
      >
        {(entries) => <AuditTable entries={entries} />}
      </ListCard>
    </Page>
  )
}
