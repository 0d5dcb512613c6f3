import { useRouterState } from '@tanstack/react-router'
import type { Session } from '../../../../client/index.ts'
import { useSession } from '../../api/session.ts'
import { signedInAgain } from '../../api/sign-in-gate.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { LAYOUT } from '../texts.ts'
import { SignInForm } from './sign-in-form.tsx'
import { useSignOut } from './sign-out.ts'

/** Over the page when the session has expired. What waits, for example an upload, continues after the sign-in. */
export function SignInDialog({ onSignedIn }: { onSignedIn: (session: Session) => void }) {
  const { member } = useSession()
  const signOut = useSignOut()
  const href = useRouterState({ select: ({ location }) => location.href })
  return (
    <Dialog
      isOpen
      isModalOnly
      onClose={() => undefined}
      size="small"
      title={LAYOUT.expiredTitle}
      description={LAYOUT.expiredText}
      actions={
        <Button look="quiet" onClick={() => void signOut()}>
          {LAYOUT.signOutInstead}
        </Button>
      }
    >
      <SignInForm
        from={href}
        {...(member.email && { email: member.email })}
        onSignedIn={(session) => {
          onSignedIn(session)
          signedInAgain()
        }}
      />
    </Dialog>
  )
}
