import { type ReactNode, useState } from 'react'
import { SluiceError } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { passkeyMessage } from '../../api/passkeys.ts'
import { useSession } from '../../api/session.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { Field, PasswordInput } from '../../ui/forms/field.tsx'
import { ConfirmWithPasskey } from './confirm-with-passkey.tsx'

/** Whether a change needs a sign-in a few minutes ago. */
export function isSignInNeeded(error: unknown): boolean {
  return error instanceof SluiceError && error.code === 'sign_in_again'
}

/** For a dialog with a change that needs a sign-in a few minutes ago: asks for one when the last one is too long ago. */
export function useConfirmedSignIn(): {
  /** Signs in first, if a password was asked for. @throws SluiceError `sign_in_again` when `fields` ask now; Error with a text for people */
  confirmed: (change: () => Promise<unknown>) => Promise<void>
  /** What the dialog shows below its own fields. */
  fields: ReactNode
  /** Whether `fields` have to be filled in first. */
  isIncomplete: boolean
  /** For the form: an error that `fields` show instead of it. */
  fieldOf: (error: unknown) => string | undefined
} {
  const { member } = useSession()
  const [isNeeded, setNeeded] = useState(false)
  const [password, setPassword] = useState('')
  const isPasswordNeeded = isNeeded && !member.passkeyOnly

  async function confirmed(change: () => Promise<unknown>): Promise<void> {
    try {
      if (isPasswordNeeded && member.email !== undefined)
        await installation.sessions.signIn({ email: member.email, password })
      await change()
    } catch (error) {
      if (!isSignInNeeded(error)) throw new Error(passkeyMessage(error), { cause: error })
      setNeeded(true)
      throw error
    }
  }
  const passwordField = (
    <Field label={PASSKEYS.confirmPassword} hint={PASSKEYS.confirmText}>
      <PasswordInput
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </Field>
  )
  return {
    confirmed,
    fields: isNeeded && (member.passkeyOnly ? <ConfirmWithPasskey /> : passwordField),
    isIncomplete: isPasswordNeeded && password === '',
    fieldOf: (error) => (isSignInNeeded(error) ? 'password' : undefined),
  }
}
