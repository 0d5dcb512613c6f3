import { useMutation, useQueryClient } from '@tanstack/react-query'
import { passkeyMessage, signInWithPasskey } from '../../api/passkeys.ts'
import { sessionQuery, useSession } from '../../api/session.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/states.tsx'

/** Signs in again, for a change that needs a sign-in a few minutes ago. */
export function ConfirmWithPasskey() {
  const { member } = useSession()
  const queryClient = useQueryClient()
  const confirm = useMutation({
    mutationFn: signInWithPasskey,
    onSuccess: (session) => {
      // It was the passkey of another account, which is now signed in.
      if (session.member.id !== member.id) return window.location.reload()
      queryClient.setQueryData(sessionQuery.queryKey, session)
    },
  })
  if (confirm.isSuccess) return <p className="text-muted text-sm">{PASSKEYS.confirmed}</p>
  return (
    <>
      <p className="text-muted text-sm">{PASSKEYS.confirmPasskey}</p>
      {confirm.error && <Notice tone="danger">{passkeyMessage(confirm.error)}</Notice>}
      <div>
        <Button isBusy={confirm.isPending} onClick={() => confirm.mutate()}>
          {PASSKEYS.confirm}
        </Button>
      </div>
    </>
  )
}
