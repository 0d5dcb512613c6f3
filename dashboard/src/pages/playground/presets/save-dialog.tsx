import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { SluiceError } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { COMMON } from '../../../texts/common.ts'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import type { Group } from '../catalog.ts'
import { queryOf, type Values } from '../state.ts'
import { PLAYGROUND } from '../texts.ts'

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
  const submit = () => {
    setMissing(name.trim() === '')
    if (name.trim() !== '') save.mutate()
  }
  const refused = save.error instanceof SluiceError ? save.error : undefined
  const isOfName = refused?.problem?.param === 'name'
  const nameError = isMissing ? PLAYGROUND.presetNameMissing : isOfName ? refused.message : undefined
  return (
    <FormDialog
      onClose={onClose}
      title={PLAYGROUND.savePreset}
      description={PLAYGROUND.savePresetText}
      action={COMMON.save}
      isBusy={save.isPending}
      error={!isOfName && save.error?.message}
      noValidate
      onSubmit={submit}
    >
      <code className="block max-h-24 overflow-auto break-all rounded-md border border-line bg-sunken px-2.5 py-2 font-mono text-xs">
        {query}
      </code>
      <Field label={PLAYGROUND.presetName} hint={PLAYGROUND.presetNameHint} error={nameError}>
        <Input value={name} onChange={({ target }) => setName(target.value)} autoComplete="off" />
      </Field>
      <Field label={PLAYGROUND.presetDescription} optional>
        <Input value={description} onChange={({ target }) => setDescription(target.value)} />
      </Field>
    </FormDialog>
  )
}
