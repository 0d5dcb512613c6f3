import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, KeyRound, Pencil, UserMinus } from 'lucide-react'
import { useState } from 'react'
import type { Member } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { COMMON } from '../../texts/common.ts'
import { MEMBERS } from '../../texts/members.ts'
import { Avatar, Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { formatAgo, formatTime } from '../../ui/format.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { Menu } from '../../ui/overlays/menu.tsx'
import type { ShownOnce } from '../../ui/overlays/once-dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { issuedLink } from './issued-link.ts'

/** The members, with what an owner may do with each. */
export function MembersTable({
  members,
  onEdit,
  onLink,
}: {
  members: readonly Member[]
  onEdit: (member: Member) => void
  onLink: (link: ShownOnce) => void
}) {
  const { member: self } = useSession()
  const queryClient = useQueryClient()
  const [removed, setRemoved] = useState<Member>()
  const createLink = (member: Member) =>
    void installation.members.createLink(member.id).then(
      (link) => onLink(issuedLink(link, member)),
      (error: unknown) => toast.failure(error),
    )
  const remove = async (member: Member) => {
    await installation.members.remove(member.id)
    await queryClient.invalidateQueries({ queryKey: ['members'] })
    toast.success(MEMBERS.removed(member.name))
  }
  const columns: Array<Column<Member>> = [
    {
      key: 'name',
      header: MEMBERS.name,
      // Takes the rest of the width, and truncates what is longer.
      className: 'w-full max-w-0',
      cell: (member) => (
        <span className="flex min-w-0 items-center gap-3">
          <Avatar name={member.name} />
          <span className="min-w-0">
            <span className="flex items-center gap-2 font-medium">
              <span className="truncate" title={member.name}>
                {member.name}
              </span>
              {member.id === self.id && <Badge>{MEMBERS.you}</Badge>}
              {member.organisation && <Badge>{MEMBERS.organisation}</Badge>}
              {member.passkeys && <PasskeyBadge member={member} count={member.passkeys} />}
            </span>
            <span className="block truncate text-muted" title={member.email}>
              {member.email}
            </span>
            <span className="mt-1 flex gap-1.5 sm:hidden">
              <RoleBadge role={member.role} />
              {member.invitedUntil && <InvitationState until={member.invitedUntil} />}
            </span>
          </span>
        </span>
      ),
    },
    {
      key: 'role',
      header: MEMBERS.role,
      hiddenBelow: 'sm',
      cell: ({ role }) => <RoleBadge role={role} />,
    },
    {
      key: 'clients',
      header: MEMBERS.clients,
      hiddenBelow: 'md',
      className: 'whitespace-nowrap',
      cell: ({ clients }) => (clients === 'all' ? MEMBERS.allClients : MEMBERS.clientCount(clients.length)),
    },
    {
      key: 'seen',
      header: MEMBERS.lastSeen,
      hiddenBelow: 'sm',
      className: 'whitespace-nowrap',
      cell: ({ lastSeenAt, invitedUntil }) =>
        invitedUntil ? (
          <InvitationState until={invitedUntil} />
        ) : (
          <span className="text-muted" title={lastSeenAt && formatTime(lastSeenAt)}>
            {lastSeenAt ? formatAgo(lastSeenAt) : COMMON.never}
          </span>
        ),
    },
    {
      key: 'actions',
      header: MEMBERS.actions,
      isHeaderHidden: true,
      isNumeric: true,
      cell: (member) => (
        <Menu
          align="end"
          trigger={
            <IconButton label={MEMBERS.actionsOf(member.name)}>
              <Ellipsis aria-hidden="true" />
            </IconButton>
          }
          groups={[
            [
              { label: MEMBERS.edit, icon: <Pencil aria-hidden="true" />, onSelect: () => onEdit(member) },
              ...(member.organisation
                ? []
                : [
                    {
                      label: member.invitedUntil ? MEMBERS.newInvitation : MEMBERS.newLink,
                      icon: <KeyRound aria-hidden="true" />,
                      onSelect: () => createLink(member),
                    },
                  ]),
            ],
            [
              {
                label: MEMBERS.remove,
                icon: <UserMinus aria-hidden="true" />,
                isDanger: true,
                onSelect: () => setRemoved(member),
              },
            ],
          ]}
        />
      ),
    },
  ]
  return (
    <>
      <Table label={MEMBERS.list} columns={columns} rows={members} keyOf={({ id }) => id} />
      {removed && (
        <ConfirmDialog
          onClose={() => setRemoved(undefined)}
          title={MEMBERS.removeTitle(removed.name)}
          description={removed.organisation ? MEMBERS.removeOrganisationText : MEMBERS.removeText}
          action={MEMBERS.remove}
          onConfirm={() => remove(removed)}
        />
      )}
    </>
  )
}

/** How many passkeys the member has, or that there is no password. */
function PasskeyBadge({ member, count }: { member: Member; count: number }) {
  if (!member.passkeyOnly) return <Badge>{MEMBERS.passkeys(count)}</Badge>
  return (
    <span title={`${MEMBERS.passkeyOnlyText} ${MEMBERS.passkeys(count)}`}>
      <Badge tone="success">{MEMBERS.passkeyOnly}</Badge>
    </span>
  )
}

function RoleBadge({ role }: Pick<Member, 'role'>) {
  return <Badge tone={role === 'owner' ? 'accent' : 'neutral'}>{MEMBERS.roles[role]}</Badge>
}

function InvitationState({ until }: { until: string }) {
  const isExpired = Date.parse(until) < Date.now()
  return (
    <span title={formatTime(until)}>
      <Badge tone="warning">{isExpired ? MEMBERS.invitationExpired : MEMBERS.invited}</Badge>
    </span>
  )
}
