import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { MEMBER_NAME_MAX_LENGTH } from '../../../../client/generated/limits.ts'
import { installation } from '../../api/clients.ts'
import { sessionQuery, useSession } from '../../api/session.ts'
import { COMMON } from '../../texts/common.ts'
import { MEMBERS } from '../../texts/members.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Notice } from '../../ui/states.tsx'
import { ACCOUNT } from './texts.ts'

/** The name, which the member may change. Email address and role are changed by owners. */
export function ProfileForm() {
  const { member } = useSession()
  const queryClient = useQueryClient()
  const [name, setName] = useState(member.name)
  const save = useMutation({
    mutationFn: () => installation.sessions.update({ name: name.trim() }),
    onSuccess: (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session)
      toast.success(ACCOUNT.nameSaved)
    },
  })
  const isEmpty = !name.trim()
  const submit = () => {
    if (!isEmpty) save.mutate()
  }
  return (
    <Form onSubmit={submit}>
      <Field label={ACCOUNT.name} error={isEmpty && ACCOUNT.nameMissing}>
        <Input
          name="name"
          autoComplete="name"
          maxLength={MEMBER_NAME_MAX_LENGTH}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <dl className="grid grid-cols-2 gap-4">
        <div className="min-w-0">
          <dt className="font-medium text-sm">{ACCOUNT.email}</dt>
          <dd className="truncate text-muted">{member.email}</dd>
        </div>
        <div>
          <dt className="font-medium text-sm">{ACCOUNT.role}</dt>
          <dd className="text-muted">{MEMBERS.roles[member.role]}</dd>
        </div>
      </dl>
      {save.error && <Notice tone="danger">{save.error.message}</Notice>}
      <div>
        <Button
          type="submit"
          look="primary"
          isBusy={save.isPending}
          disabled={isEmpty || name.trim() === member.name}
        >
          {COMMON.save}
        </Button>
      </div>
    </Form>
  )
}
