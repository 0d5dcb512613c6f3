import { queryOptions, useQuery } from '@tanstack/react-query'
import { UserPlus, Users } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Member } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { useCommands } from '../../layout/commands/commands.ts'
import { MEMBERS } from '../../texts/members.ts'
import { Button } from '../../ui/button.tsx'
import { ListCard } from '../../ui/list-card.tsx'
import { OnceDialog, type ShownOnce } from '../../ui/overlays/once-dialog.tsx'
import { Page } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { MemberDialog } from './member-dialog.tsx'
import { MembersTable } from './table.tsx'

/** All members. */
const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => installation.members.list({ signal }),
})

/** The people who may use the console, for owners. */
export function MembersPage() {
  const query = useQuery(membersQuery)
  // A member: their changes. `new`: an invitation.
  const [edited, setEdited] = useState<Member | 'new'>()
  const [link, setLink] = useState<ShownOnce>()
  const invite = (
    <Button
      look="primary"
      icon={<UserPlus aria-hidden="true" className="size-4" />}
      onClick={() => setEdited('new')}
    >
      {MEMBERS.invite}
    </Button>
  )
  useCommands(
    useMemo(
      () => [
        {
          id: 'invite',
          title: MEMBERS.invite,
          group: MEMBERS.title,
          icon: <UserPlus aria-hidden="true" />,
          shortcut: 'i',
          run: () => setEdited('new'),
        },
      ],
      [],
    ),
  )
  return (
    <Page
      title={MEMBERS.title}
      description={MEMBERS.description}
      actions={query.data?.length ? invite : undefined}
    >
      <ListCard
        query={query}
        rows={query.data}
        skeleton={{ rows: 4, rowHeight: 56 }}
        empty={
          <EmptyState icon={<Users />} title={MEMBERS.emptyTitle} actions={invite}>
            {MEMBERS.emptyText}
          </EmptyState>
        }
      >
        {(members) => <MembersTable members={members} onEdit={setEdited} onLink={setLink} />}
      </ListCard>
      {edited && (
        <MemberDialog
          {...(edited !== 'new' && { member: edited })}
          onClose={() => setEdited(undefined)}
          onInvited={setLink}
        />
      )}
      {link && <OnceDialog shown={link} done={MEMBERS.done} onClose={() => setLink(undefined)} />}
    </Page>
  )
}
