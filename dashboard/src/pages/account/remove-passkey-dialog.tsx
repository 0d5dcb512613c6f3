import { useQueryClient } from '@tanstack/react-query'
import type { Passkey } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { sessionQuery } from '../../api/session.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { FormDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { useConfirmedSignIn } from './confirm-sign-in.tsx'

/** Asks before a passkey is removed. */
export function RemovePasskeyDialog({
  passkey: { id, name },
  onClose,
}: {
  passkey: Passkey
  onClose: () => void
}) {
  const queryClient = useQueryClient()
  const { confirmed, fields, isIncomplete, fieldOf } = useConfirmedSignIn()

  async function remove(): Promise<void> {
    await confirmed(() => installation.sessions.passkeys.remove(id))
    await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
    toast.success(PASSKEYS.removed(name))
  }
  return (
    <FormDialog
      size="small"
      look="danger"
      onClose={onClose}
      title={PASSKEYS.removeTitle(name)}
      description={PASSKEYS.removeText}
      action={PASSKEYS.remove}
      noValidate
      onSubmit={() => !isIncomplete && remove()}
      fieldOf={fieldOf}
    >
      {fields}
    </FormDialog>
  )
}
