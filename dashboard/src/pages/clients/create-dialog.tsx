import { useState } from 'react'
import { installation } from '../../api/clients.ts'
import { nameOf } from '../../api/session.ts'
import { CLIENT_PARTS, CLIENTS } from '../../texts/clients.ts'
import { Checkbox } from '../../ui/forms/choices.tsx'
import { Field, Input } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/overlays/dialog.tsx'
import type { ShownOnce } from '../../ui/overlays/once-dialog.tsx'
import { useReloadClients } from './data.ts'
import { BucketFields, EMPTY_BUCKET, fieldOf, settingsOf } from './storage/fields.tsx'

/** Creates a client, with a bucket of its own if it is chosen. The service tests the bucket first. */
export function CreateDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (secret: ShownOnce) => void
}) {
  const reload = useReloadClients()
  const [name, setName] = useState('')
  const [hasBucket, setHasBucket] = useState(false)
  const [bucket, setBucket] = useState(EMPTY_BUCKET)
  const create = async () => {
    const client = await installation.clients.create({
      ...(name.trim() && { name: name.trim() }),
      ...(hasBucket && { storage: settingsOf(bucket) }),
    })
    onCreated({
      title: CLIENTS.secretTitle(nameOf(client)),
      value: client.secretClientToken,
      label: CLIENTS.copySecret,
      hint: CLIENTS.secretOnce,
    })
    void reload()
  }
  return (
    <FormDialog
      onClose={onClose}
      title={CLIENTS.create}
      description={CLIENTS.createText}
      action={CLIENTS.create}
      onSubmit={create}
      fieldOf={hasBucket ? fieldOf : undefined}
    >
      {(errorAt) => (
        <>
          <Field label={CLIENTS.name} hint={CLIENTS.nameHint} optional>
            <Input autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
          </Field>
          <Checkbox label={CLIENT_PARTS.useOwn} checked={hasBucket} onChange={setHasBucket} />
          {hasBucket && <BucketFields value={bucket} onChange={setBucket} errorAt={errorAt} />}
        </>
      )}
    </FormDialog>
  )
}
