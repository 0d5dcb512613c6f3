import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { MEMBER_NAME_MAX_LENGTH } from '../../../../client/generated/limits.ts'
import type { Member, Role } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { emailError } from '../../layout/sign-in/credentials.ts'
import { COMMON } from '../../texts/common.ts'
import { MEMBERS } from '../../texts/members.ts'
import { Field, Input } from '../../ui/forms/field.tsx'
import { Select } from '../../ui/forms/select.tsx'
import { FormDialog } from '../../ui/overlays/dialog.tsx'
import type { ShownOnce } from '../../ui/overlays/once-dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { ClientChoice } from './client-choice.tsx'
import { issuedLink } from './issued-link.ts'

const ROLES: readonly Role[] = ['viewer', 'editor', 'owner']

/** Invites a member, or changes an existing one. */
export function MemberDialog({
  member,
  onClose,
  onInvited,
}: {
  member?: Member
  onClose: () => void
  onInvited: (link: ShownOnce) => void
}) {
  const session = useSession()
  const queryClient = useQueryClient()
  const [email, setEmail] = useState('')
  const [name, setName] = useState(member?.name ?? '')
  const [role, setRole] = useState<Role>(member?.role ?? 'editor')
  const [clients, setClients] = useState<Member['clients']>(member?.clients ?? 'all')
  const [isTried, setTried] = useState(false)
  const visible = role === 'owner' ? 'all' : clients
  const wrongEmail = member ? undefined : emailError(email)
  const noClients = visible !== 'all' && visible.length === 0

  async function save(): Promise<void> {
    const given = { role, clients: visible, ...(name.trim() && { name: name.trim() }) }
    if (member) {
      await installation.members.update(member.id, given)
      toast.success(MEMBERS.saved)
    } else {
      const invited = await installation.members.invite({ ...given, email: email.trim() })
      onInvited(issuedLink(invited, invited.member))
    }
    void queryClient.invalidateQueries({ queryKey: ['members'] })
    if (member?.id === session.member.id) void queryClient.invalidateQueries({ queryKey: ['session'] })
  }
  const submit = () => {
    setTried(true)
    return !wrongEmail && !noClients && save()
  }
  return (
    <FormDialog
      onClose={onClose}
      title={member ? MEMBERS.editTitle(member.name) : MEMBERS.invite}
      description={member ? member.email : MEMBERS.inviteText}
      action={member ? COMMON.save : MEMBERS.createInvitation}
      noValidate
      onSubmit={submit}
    >
      {!member && (
        <Field label={MEMBERS.email} hint={MEMBERS.emailHint} error={isTried && wrongEmail}>
          <Input
            type="email"
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
      )}
      <Field label={MEMBERS.name} optional={!member}>
        <Input
          autoComplete="off"
          maxLength={MEMBER_NAME_MAX_LENGTH}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field label={MEMBERS.role}>
        <Select
          value={role}
          onChange={setRole}
          options={ROLES.map((value) => ({
            value,
            label: MEMBERS.roles[value],
            description: MEMBERS.roleTexts[value],
          }))}
        />
      </Field>
      {member?.organisation && <p className="text-muted text-sm">{MEMBERS.organisationText}</p>}
      {role === 'owner' ? (
        <p className="text-muted text-sm">{MEMBERS.ownerSeesAll}</p>
      ) : (
        <ClientChoice
          clients={session.clients}
          value={clients}
          onChange={setClients}
          error={isTried && noClients ? MEMBERS.noClientChosen : undefined}
        />
      )}
    </FormDialog>
  )
}
