import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Client } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { nameOf } from '../../api/session.ts'
import { CLIENTS } from '../../texts/clients.ts'
import { COMMON } from '../../texts/common.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { Checkbox } from '../../ui/forms/choices.tsx'
import { Field, Input } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Card } from '../../ui/page.tsx'
import { isFirst, useReloadClients } from './data.ts'

/** The name of a client, and its deletion. */
export function SettingsPart({ client }: { client: Client }) {
  const reload = useReloadClients()
  const [name, setName] = useState(client.name ?? '')
  const [isRemoving, setRemoving] = useState(false)
  const save = useMutation({
    mutationFn: () => installation.clients.update(client.id, { name: name.trim() || null }),
    onSuccess: async () => {
      toast.success(CLIENTS.saved)
      await reload()
    },
  })
  const submit = () => {
    save.mutate()
  }
  return (
    <div className="flex flex-col gap-5">
      <Card>
        <Form onSubmit={submit}>
          <Field label={CLIENTS.name} hint={CLIENTS.nameHint} error={save.error?.message}>
            <Input autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
          </Field>
          <Button
            type="submit"
            look="primary"
            className="self-start"
            disabled={name.trim() === (client.name ?? '')}
            isBusy={save.isPending}
          >
            {COMMON.save}
          </Button>
        </Form>
      </Card>
      <Card title={CLIENTS.id}>
        <CopyField value={client.id} label={CLIENTS.copyId} />
      </Card>
      <Card
        title={CLIENTS.remove}
        description={isFirst(client.id) ? CLIENTS.firstText : CLIENTS.removeText}
        actions={
          !isFirst(client.id) && (
            <Button look="danger" onClick={() => setRemoving(true)}>
              {CLIENTS.remove}
            </Button>
          )
        }
      />
      {isRemoving && <RemovalDialog client={client} onClose={() => setRemoving(false)} />}
    </div>
  )
}

function RemovalDialog({ client, onClose }: { client: Client; onClose: () => void }) {
  const reload = useReloadClients()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [files, setFiles] = useState(false)
  const name = nameOf(client)
  const remove = async () => {
    const { originals } = await installation.clients.delete(client.id, { files })
    toast.success(CLIENTS.removed(name, originals))
    await navigate({ to: '/clients' })
    await reload()
  }
  return (
    <FormDialog
      onClose={onClose}
      title={CLIENTS.removeTitle(name)}
      description={CLIENTS.removeText}
      action={CLIENTS.remove}
      look="danger"
      isDisabled={typed !== name}
      onSubmit={() => typed === name && remove()}
    >
      <Field label={CLIENTS.typeName(name)}>
        <Input
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </Field>
      <Checkbox
        label={CLIENTS.withFiles}
        description={CLIENTS.withFilesText}
        checked={files}
        onChange={setFiles}
      />
    </FormDialog>
  )
}
