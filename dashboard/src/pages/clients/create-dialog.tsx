import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { sluice } from '../../api/clients.ts'
import { nameOf } from '../../layout/client-switcher.tsx'
import { CLIENT_PARTS, CLIENTS } from '../../texts/clients.ts'
import { COMMON } from '../../texts/common.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/forms/choices.tsx'
import { Field, Input } from '../../ui/forms/field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import type { IssuedSecret } from './access/secret-dialog.tsx'
import { useReloadClients } from './data.ts'
import { BucketFields, EMPTY_BUCKET, fieldOf, settingsOf } from './storage/fields.tsx'

const FORM = 'new-client'

/** Creates a client, with a bucket of its own if it is chosen. The service tests the bucket first. */
export function CreateDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (secret: IssuedSecret) => void
}) {
  const reload = useReloadClients()
  const [name, setName] = useState('')
  const [hasBucket, setHasBucket] = useState(false)
  const [bucket, setBucket] = useState(EMPTY_BUCKET)
  const create = useMutation({
    mutationFn: () =>
      sluice.clients.create({
        ...(name.trim() && { name: name.trim() }),
        ...(hasBucket && { storage: settingsOf(bucket) }),
      }),
    onSuccess: async (client) => {
      onClose()
      onCreated({
        title: CLIENTS.secretTitle(nameOf(client)),
        value: client.secretClientToken,
        label: CLIENTS.copySecret,
        hint: CLIENTS.secretOnce,
      })
      await reload()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={CLIENTS.create}
      description={CLIENTS.createText}
      actions={
        <>
          <Button onClick={onClose}>{COMMON.cancel}</Button>
          <Button type="submit" form={FORM} look="primary" isBusy={create.isPending}>
            {CLIENTS.create}
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit} noValidate className="flex flex-col gap-4">
        <Field label={CLIENTS.name} hint={CLIENTS.nameHint} optional>
          <Input autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Checkbox label={CLIENT_PARTS.useOwn} checked={hasBucket} onChange={setHasBucket} />
        {hasBucket && <BucketFields value={bucket} onChange={setBucket} error={create.error} />}
        {create.error && !(hasBucket && fieldOf(create.error)) && (
          <Notice tone="danger">{create.error.message}</Notice>
        )}
      </form>
    </Dialog>
  )
}
