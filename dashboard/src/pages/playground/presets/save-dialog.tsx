import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { SluiceError } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { COMMON } from '../../../texts/common.ts'
import { PLAYGROUND } from '../../../texts/playground.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { Notice } from '../../../ui/states.tsx'
import type { Group } from '../catalog.ts'
import { queryOf, type Values } from '../state.ts'

/** Saves the chosen parameters as a preset of the client. */
export function SaveDialog({
  group,
  values,
  onClose,
}: {
  group: Group
  values: Values
  onClose: () => void
}) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [isMissing, setMissing] = useState(false)
  const formId = useId()
  const { client, sluice } = useClient()
  const queryClient = useQueryClient()
  const query = queryOf(values)
  const save = useMutation({
    mutationFn: () =>
      sluice.presets.save(name.trim(), {
        group,
        parameters: query,
        ...(description.trim() && { description: description.trim() }),
      }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: [client.id, 'presets'] })
      toast.success(PLAYGROUND.presetSaved(name.trim()))
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setMissing(name.trim() === '')
    if (name.trim() !== '') save.mutate()
  }
  const refused = save.error instanceof SluiceError ? save.error : undefined
  const isOfName = refused?.problem?.param === 'name'
  const nameError = isMissing ? PLAYGROUND.presetNameMissing : isOfName ? refused.message : undefined
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={PLAYGROUND.savePreset}
      description={PLAYGROUND.savePresetText}
      actions={
        <>
          <Button onClick={onClose}>{COMMON.cancel}</Button>
          <Button look="primary" type="submit" form={formId} isBusy={save.isPending}>
            {COMMON.save}
          </Button>
        </>
      }
    >
      <form id={formId} noValidate onSubmit={submit} className="flex flex-col gap-4">
        <code className="block max-h-24 overflow-auto break-all rounded-md border border-line bg-sunken px-2.5 py-2 font-mono text-xs">
          {query}
        </code>
        <Field label={PLAYGROUND.presetName} hint={PLAYGROUND.presetNameHint} error={nameError}>
          <Input value={name} onChange={({ target }) => setName(target.value)} autoComplete="off" />
        </Field>
        <Field label={PLAYGROUND.presetDescription} optional>
          <Input value={description} onChange={({ target }) => setDescription(target.value)} />
        </Field>
        {save.error && !isOfName && <Notice tone="danger">{save.error.message}</Notice>}
      </form>
    </Dialog>
  )
}
