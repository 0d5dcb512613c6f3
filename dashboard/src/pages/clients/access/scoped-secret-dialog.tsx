import { useState } from 'react'
import { installation } from '../../../api/clients.ts'
import { paramOf } from '../../../api/param-of.ts'
import { CLIENTS } from '../../../texts/clients.ts'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { Select } from '../../../ui/forms/select.tsx'
import { FormDialog } from '../../../ui/overlays/dialog.tsx'
import type { ShownOnce } from '../../../ui/overlays/once-dialog.tsx'
import { useReloadClients } from '../data.ts'

type Permission = keyof typeof CLIENTS.permissions
type Expiry = keyof typeof CLIENTS.expiries

const PERMISSIONS = Object.entries(CLIENTS.permissions).map(([value, label]) => ({
  value: value as Permission,
  label,
}))
const EXPIRIES = Object.entries(CLIENTS.expiries)
  .map(([value, label]) => ({ value: value as Expiry, label }))
  .sort((a, b) => Number(b.value === 'never') - Number(a.value === 'never'))

// The fields that the service can refuse.
const FIELDS = ['name', 'folder']

/** Creates a secret with a scope and an expiry. */
export function ScopedSecretDialog({
  clientId,
  onClose,
  onIssued,
}: {
  clientId: string
  onClose: () => void
  onIssued: (secret: ShownOnce) => void
}) {
  const reload = useReloadClients()
  const [name, setName] = useState('')
  const [only, setOnly] = useState<Permission>('upload')
  const [folder, setFolder] = useState('')
  const [expiry, setExpiry] = useState<Expiry>('never')
  const add = async () => {
    const secret = await installation.clients.addSecret(clientId, {
      ...(name.trim() && { name: name.trim() }),
      ...(only !== 'all' && { only }),
      ...(folder.trim() && { folder: folder.trim() }),
      ...(expiry !== 'never' && { validSeconds: Number(expiry) }),
    })
    onIssued({
      title: CLIENTS.secretTitle(secret.name ?? secret.id),
      value: secret.secretClientToken,
      label: CLIENTS.copySecret,
      hint: CLIENTS.secretOnce,
    })
    void reload()
  }
  return (
    <FormDialog
      onClose={onClose}
      title={CLIENTS.addScoped}
      description={CLIENTS.scopedText}
      action={CLIENTS.addScoped}
      onSubmit={add}
      fieldOf={(error) => FIELDS.find((field) => field === paramOf(error))}
    >
      {(errorAt) => (
        <>
          <Field label={CLIENTS.name} optional error={errorAt('name')}>
            <Input autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
          </Field>
          <Field label={CLIENTS.permission}>
            <Select value={only} onChange={setOnly} options={PERMISSIONS} />
          </Field>
          <Field label={CLIENTS.folder} hint={CLIENTS.folderHint} optional error={errorAt('folder')}>
            <Input autoComplete="off" value={folder} onChange={(event) => setFolder(event.target.value)} />
          </Field>
          <Field label={CLIENTS.expiry}>
            <Select value={expiry} onChange={setExpiry} options={EXPIRIES} />
          </Field>
        </>
      )}
    </FormDialog>
  )
}
