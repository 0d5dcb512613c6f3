import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { PASSWORD_MIN_LENGTH } from '../../../../client/generated/limits.ts'
import { SluiceError } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { sessionQuery, useSession } from '../../api/session.ts'
import { passwordError } from '../../layout/sign-in/credentials.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { SIGN_IN } from '../../texts/session/sign-in.ts'
import { WELCOME } from '../../texts/session/welcome.ts'
import { Button } from '../../ui/button.tsx'
import { Field, PasswordInput } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Notice } from '../../ui/states.tsx'
import { isSignInNeeded } from './confirm-sign-in.tsx'
import { ConfirmWithPasskey } from './confirm-with-passkey.tsx'
import { ACCOUNT } from './texts.ts'

/** The current password and a new one. A member who has only passkeys has no current one. */
export function PasswordForm() {
  const { member } = useSession()
  const queryClient = useQueryClient()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [isTried, setTried] = useState(false)
  const change = useMutation({
    mutationFn: () =>
      installation.sessions.update({
        newPassword: next,
        ...(member.passkeyOnly ? {} : { currentPassword: current }),
      }),
    onSuccess: (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session)
      setCurrent('')
      setNext('')
      setTried(false)
      toast.success(member.passkeyOnly ? PASSKEYS.setDone : ACCOUNT.changed)
    },
  })
  const nextError = passwordError(next)
  const submit = () => {
    setTried(true)
    if ((current || member.passkeyOnly) && !nextError) change.mutate()
  }
  return (
    <Form onSubmit={submit}>
      {/* For password managers. */}
      <input type="text" name="username" autoComplete="username" value={member.email ?? ''} readOnly hidden />
      {!member.passkeyOnly && (
        <Field label={ACCOUNT.current} error={isTried && !current && ACCOUNT.currentMissing}>
          <PasswordInput
            autoComplete="current-password"
            value={current}
            onChange={(event) => setCurrent(event.target.value)}
          />
        </Field>
      )}
      <Field
        label={ACCOUNT.next}
        hint={WELCOME.passwordHint(PASSWORD_MIN_LENGTH)}
        error={isTried && nextError}
      >
        <PasswordInput
          autoComplete="new-password"
          value={next}
          onChange={(event) => setNext(event.target.value)}
        />
      </Field>
      {change.error &&
        (isSignInNeeded(change.error) ? (
          <ConfirmWithPasskey />
        ) : (
          <Notice tone="danger">{messageOf(change.error)}</Notice>
        ))}
      <div>
        <Button type="submit" isBusy={change.isPending}>
          {member.passkeyOnly ? PASSKEYS.set : ACCOUNT.change}
        </Button>
      </div>
    </Form>
  )
}

function messageOf(error: Error): string {
  if (!(error instanceof SluiceError)) return error.message
  if (error.code === 'wrong_password') return ACCOUNT.wrong
  return error.status === 429 ? SIGN_IN.tooMany(error.retryAfter) : error.message
}
