import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { paramOf } from '../../../api/param-of.ts'
import { useClient } from '../../../api/session.ts'
import { COMMON } from '../../../texts/common.ts'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/overlays/dialog.tsx'
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
  const { client, sluice } = useClient()
  const queryClient = useQueryClient()
  const query = queryOf(values)
  const save = async () => {
    if (name.trim() === '') throw new Error(PLAYGROUND.presetNameMissing)
    await sluice.presets.save(name.trim(), {
      group,
      parameters: query,
      ...(description.trim() && { description: description.trim() }),
    })
    void queryClient.invalidateQueries({ queryKey: [client.id, 'presets'] })
    toast.success(PLAYGROUND.presetSaved(name.trim()))
  }
  return (
    <FormDialog
      onClose={onClose}
      title={PLAYGROUND.savePreset}
      description={PLAYGROUND.savePresetText}
      action={COMMON.save}
      onSubmit={save}
      fieldOf={(error) => (name.trim() === '' || paramOf(error) === 'name' ? 'name' : undefined)}
    >
      {(errorAt) => (
        <>
          <code className="block max-h-24 overflow-auto break-all rounded-md border border-line bg-sunken px-2.5 py-2 font-mono text-xs">
            {query}
          </code>
          <Field label={PLAYGROUND.presetName} hint={PLAYGROUND.presetNameHint} error={errorAt('name')}>
            <Input value={name} onChange={({ target }) => setName(target.value)} autoComplete="off" />
          </Field>
          <Field label={PLAYGROUND.presetDescription} optional>
            <Input value={description} onChange={({ target }) => setDescription(target.value)} />
          </Field>
        </>
      )}
    </FormDialog>
  )
}
