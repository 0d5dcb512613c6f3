import { useState } from 'react'
import { MEMBER_NAME_MAX_LENGTH } from '../../../../client/generated/limits.ts'
import { addPasskey } from '../../api/passkeys.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { Field, Input } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { useConfirmedSignIn } from './confirm-sign-in.tsx'

/** The name of a new passkey. */
export function AddPasskeyDialog({
  onClose,
  onAdded,
}: {
  onClose: () => void
  onAdded: () => Promise<unknown>
}) {
  const { confirmed, fields, isIncomplete, fieldOf } = useConfirmedSignIn()
  const [name, setName] = useState(deviceName)
  const [isTried, setTried] = useState(false)
  const isEmpty = !name.trim()

  async function add(): Promise<void> {
    await confirmed(() => addPasskey(name.trim()))
    await onAdded()
    toast.success(PASSKEYS.done(name.trim()))
  }
  const submit = () => {
    setTried(true)
    return !isEmpty && !isIncomplete && add()
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
      fieldOf={fieldOf}
    >
      <Field
        label={PASSKEYS.name}
        hint={PASSKEYS.nameHint}
        error={isTried && isEmpty && PASSKEYS.nameMissing}
      >
        <Input
          autoComplete="off"
          maxLength={MEMBER_NAME_MAX_LENGTH}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      {fields}
    </FormDialog>
  )
}

const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Mac', 'Windows', 'CrOS', 'Linux']

/** A name to begin with. */
function deviceName(): string {
  return PASSKEYS.deviceName(SYSTEMS.find((system) => navigator.userAgent.includes(system)))
}
