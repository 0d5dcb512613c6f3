import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { installation } from '../../api/clients.ts'
import { passkeyMessage } from '../../api/passkeys.ts'
import { sessionQuery } from '../../api/session.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { Field, PasswordInput } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { ACCOUNT } from './texts.ts'

/** Removes the password of a member who has passkeys. It asks for the password. */
export function RemovePasswordDialog({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient()
  const [current, setCurrent] = useState('')
  const [isTried, setTried] = useState(false)

  async function remove(): Promise<void> {
    const change = { currentPassword: current, newPassword: null }
    const session = await installation.sessions.update(change).catch((error: unknown) => {
      throw new Error(passkeyMessage(error), { cause: error })
    })
    queryClient.setQueryData(sessionQuery.queryKey, session)
    toast.success(PASSKEYS.onlyDone)
  }
  const submit = () => {
    setTried(true)
    return current !== '' && remove()
  }
  return (
    <FormDialog
      size="small"
      look="danger"
      onClose={onClose}
      title={PASSKEYS.onlyTitle}
      description={PASSKEYS.onlyConfirm}
      action={PASSKEYS.onlyAction}
      noValidate
      onSubmit={submit}
    >
      <Field label={ACCOUNT.current} error={isTried && !current && ACCOUNT.currentMissing}>
        <PasswordInput
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
      </Field>
    </FormDialog>
  )
}
