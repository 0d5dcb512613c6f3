import { queryOptions, useQuery } from '@tanstack/react-query'
import { UserPlus, Users } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Member } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { useCommands } from '../../layout/commands/commands.ts'
import { MEMBERS } from '../../texts/members.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import { type IssuedLink, LinkDialog } from './link-dialog.tsx'
import { MemberDialog } from './member-dialog.tsx'
import { MembersTable } from './table.tsx'

/** All members. */
const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => installation.members.list({ signal }),
})

/** The people who may use the console, for owners. */
export function MembersPage() {
  const { data: members, error, refetch } = useQuery(membersQuery)
  // A member: their changes. `new`: an invitation.
  const [edited, setEdited] = useState<Member | 'new'>()
  const [link, setLink] = useState<IssuedLink>()
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
      actions={members?.length ? invite : undefined}
    >
      {error && !members ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Card isFlush>
          {!members && <SkeletonRows rows={4} rowHeight={56} />}
          {members?.length === 0 && (
            <EmptyState icon={<Users />} title={MEMBERS.emptyTitle} actions={invite}>
              {MEMBERS.emptyText}
            </EmptyState>
          )}
          {members && members.length > 0 && (
            <MembersTable members={members} onEdit={setEdited} onLink={setLink} />
          )}
        </Card>
      )}
      {edited && (
        <MemberDialog
          {...(edited !== 'new' && { member: edited })}
          onClose={() => setEdited(undefined)}
          onInvited={setLink}
        />
      )}
      {link && <LinkDialog link={link} onClose={() => setLink(undefined)} />}
    </Page>
  )
}
