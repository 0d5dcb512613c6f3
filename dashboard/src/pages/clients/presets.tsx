import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus, SlidersHorizontal, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { NewPreset, Preset } from '../../../../client/index.ts'
import { libraryFor } from '../../api/clients.ts'
import { CLIENT_PARTS } from '../../texts/clients.ts'
import { COMMON } from '../../texts/common.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/forms/field.tsx'
import { Select } from '../../ui/forms/select.tsx'
import { ListCard } from '../../ui/list-card.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { EmptyState } from '../../ui/states.tsx'

const GROUPS = (['image', 'video', 'audio', 'text', 'application'] as const).map((value) => ({
  value,
  label: value,
}))

/** The presets that a client may use: its own, and those of the installation. */
export function PresetsPart({ clientId }: { clientId: string }) {
  const queryClient = useQueryClient()
  const queryKey = [clientId, 'presets']
  const { presets } = libraryFor(clientId)
  const query = useQuery({ queryKey, queryFn: ({ signal }) => presets.list({ signal }) })
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<Preset>()
  const reload = () => queryClient.invalidateQueries({ queryKey })
  const remove = async ({ name }: Preset) => {
    await presets.remove(name)
    toast.success(CLIENT_PARTS.presetRemoved)
    await reload()
  }
  const add = (
    <Button icon={<Plus aria-hidden="true" className="size-4" />} onClick={() => setAdding(true)}>
      {CLIENT_PARTS.addPreset}
    </Button>
  )
  return (
    <>
      <ListCard
        title={CLIENT_PARTS.presetsTitle}
        description={CLIENT_PARTS.presetsText}
        actions={add}
        query={query}
        rows={query.data}
        skeleton={{ rows: 3 }}
        empty={
          <EmptyState icon={<SlidersHorizontal />} title={CLIENT_PARTS.noPresetsTitle}>
            {CLIENT_PARTS.noPresetsText}
          </EmptyState>
        }
      >
        {(listed) => (
          <ul className="divide-y divide-line">
            {listed.map((preset) => (
              <li key={preset.name} className="flex items-center gap-3 px-4 py-2">
                <span className="min-w-0 flex-1">
                  <span className="block truncate font-medium">{preset.name}</span>
                  <code className="block truncate font-mono text-muted text-xs">
                    {Object.entries(preset.parameters)
                      .map(([name, value]) => `${name}=${value}`)
                      .join('&')}
                  </code>
                  {preset.description && (
                    <span className="block truncate text-muted text-sm">{preset.description}</span>
                  )}
                </span>
                {preset.from === 'shared' ? (
                  <Badge>{CLIENT_PARTS.ofInstallation}</Badge>
                ) : (
                  <IconButton
                    label={CLIENT_PARTS.removePreset(preset.name)}
                    onClick={() => setRemoved(preset)}
                  >
                    <Trash2 aria-hidden="true" />
                  </IconButton>
                )}
              </li>
            ))}
          </ul>
        )}
      </ListCard>
      {isAdding && <PresetDialog clientId={clientId} onClose={() => setAdding(false)} onSaved={reload} />}
      {removed && (
        <ConfirmDialog
          onClose={() => setRemoved(undefined)}
          title={CLIENT_PARTS.removePresetTitle(removed.name)}
          description={CLIENT_PARTS.removePresetText}
          action={CLIENT_PARTS.remove}
          onConfirm={() => remove(removed)}
        />
      )}
    </>
  )
}

function PresetDialog({
  clientId,
  onClose,
  onSaved,
}: {
  clientId: string
  onClose: () => void
  onSaved: () => Promise<void>
}) {
  const [name, setName] = useState('')
  const [parameters, setParameters] = useState('')
  const [group, setGroup] = useState<NewPreset['group']>('image')
  const save = async () => {
    await libraryFor(clientId).presets.save(name.trim(), { group, parameters })
    void onSaved()
  }
  return (
    <FormDialog
      onClose={onClose}
      title={CLIENT_PARTS.addPreset}
      description={CLIENT_PARTS.presetsText}
      action={COMMON.save}
      isDisabled={name.trim() === ''}
      onSubmit={save}
    >
      <Field label={CLIENT_PARTS.presetName}>
        <Input autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label={CLIENT_PARTS.group}>
        <Select value={group} onChange={setGroup} options={GROUPS} />
      </Field>
      <Field label={CLIENT_PARTS.presetParameters} hint={CLIENT_PARTS.parametersHint}>
        <Input
          autoComplete="off"
          spellCheck={false}
          className="font-mono"
          value={parameters}
          onChange={(event) => setParameters(event.target.value)}
        />
      </Field>
    </FormDialog>
  )
}
