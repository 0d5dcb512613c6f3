import { useState } from 'react'
import { SluiceError } from '../../../../client/index.ts'
import { addPasskey, passkeyMessage } from '../../api/passkeys.ts'
import { useSession } from '../../api/session.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { Field, Input, PasswordInput } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { ConfirmWithPasskey } from './confirm-with-passkey.tsx'

/** The name of a new passkey. When the sign-in is too long ago, also the current password, or another passkey. */
export function AddPasskeyDialog({
  onClose,
  onAdded,
}: {
  onClose: () => void
  onAdded: () => Promise<unknown>
}) {
  const { member } = useSession()
  const [name, setName] = useState(deviceName)
  const [password, setPassword] = useState('')
  const [isStale, setStale] = useState(false)
  const [isTried, setTried] = useState(false)
  const isPasswordNeeded = isStale && !member.passkeyOnly
  const isEmpty = !name.trim()

  async function add(): Promise<void> {
    try {
      await addPasskey({ name: name.trim(), currentPassword: isPasswordNeeded ? password : undefined })
    } catch (error) {
      if (isSignInNeeded(error)) {
        setStale(true)
        throw error
      }
      throw new Error(passkeyMessage(error), { cause: error })
    }
    await onAdded()
    toast.success(PASSKEYS.done(name.trim()))
  }
  const submit = () => {
    setTried(true)
    return !isEmpty && !(isPasswordNeeded && !password) && add()
  }
  return (
    <FormDialog
      size="small"
      onClose={onClose}
      title={PASSKEYS.add}
      description={PASSKEYS.addText}
      action={PASSKEYS.add}
      isClosable
      noValidate
      onSubmit={submit}
      // The dialog shows then what else it needs.
      fieldOf={(error) => (isSignInNeeded(error) ? 'password' : undefined)}
    >
      <Field
        label={PASSKEYS.name}
        hint={PASSKEYS.nameHint}
        error={isTried && isEmpty && PASSKEYS.nameMissing}
      >
        <Input
          autoComplete="off"
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      {isPasswordNeeded && (
        <Field label={PASSKEYS.confirmPassword} hint={PASSKEYS.confirmText}>
          <PasswordInput
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </Field>
      )}
      {isStale && member.passkeyOnly && <ConfirmWithPasskey />}
    </FormDialog>
  )
}

function isSignInNeeded(error: unknown): boolean {
  return error instanceof SluiceError && error.code === 'sign_in_again'
}

const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Mac', 'Windows', 'CrOS', 'Linux']

/** A name to begin with. */
function deviceName(): string {
  return PASSKEYS.deviceName(SYSTEMS.find((system) => navigator.userAgent.includes(system)))
}
