import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Bookmark, BookmarkPlus, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Preset } from '../../../../../client/index.ts'
import { useClient, useMay } from '../../../api/session.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Popover } from '../../../ui/overlays/popover.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { ErrorState } from '../../../ui/states.tsx'
import type { Group } from '../catalog.ts'
import { presetsQuery } from '../queries.ts'
import { queryOf, type Values, valuesOf } from '../state.ts'
import { PLAYGROUND } from '../texts.ts'
import { SaveDialog } from './save-dialog.tsx'

/** The presets for a type of files: apply, load, delete; and save the chosen parameters as one. */
export function PresetMenu({
  group,
  values,
  replace,
}: {
  group: Group
  values: Values
  replace: (values: Values) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const { client, sluice } = useClient()
  const mayEdit = useMay('editor')
  const { data, error, refetch } = useQuery(presetsQuery(client.id, sluice))
  const presets = data?.filter(({ types }) => types.includes(group))
  const choose = (next: Values) => {
    replace(next)
    setOpen(false)
  }
  return (
    <>
      {mayEdit && (
        <Button
          icon={<BookmarkPlus aria-hidden="true" className="size-4" />}
          disabled={Object.keys(values).length === 0 || values.preset !== undefined}
          onClick={() => setSaving(true)}
        >
          {PLAYGROUND.savePreset}
        </Button>
      )}
      <Popover
        isOpen={isOpen}
        onOpenChange={setOpen}
        align="end"
        className="w-80 p-0!"
        trigger={
          <Button icon={<Bookmark aria-hidden="true" className="size-4" />}>{PLAYGROUND.presets}</Button>
        }
      >
        <h2 className="border-line border-b px-3 py-2 font-medium text-sm">{PLAYGROUND.presetsOf(group)}</h2>
        {error && <ErrorState error={error} onRetry={() => void refetch()} />}
        {!presets && !error && <SkeletonRows rows={3} />}
        {presets?.length === 0 && (
          <p className="p-4 text-center text-muted text-sm">{PLAYGROUND.noPresets}</p>
        )}
        <ul className="max-h-80 divide-y divide-line overflow-y-auto">
          {presets?.map((preset) => (
            <Entry
              key={preset.name}
              preset={preset}
              group={group}
              mayEdit={mayEdit}
              isApplied={values.preset === preset.name}
              onChoose={choose}
            />
          ))}
        </ul>
      </Popover>
      {isSaving && <SaveDialog group={group} values={values} onClose={() => setSaving(false)} />}
    </>
  )
}

function Entry({
  preset,
  group,
  mayEdit,
  isApplied,
  onChoose,
}: {
  preset: Preset
  group: Group
  mayEdit: boolean
  isApplied: boolean
  onChoose: (values: Values) => void
}) {
  const { client, sluice } = useClient()
  const queryClient = useQueryClient()
  const { name, from, description } = preset
  const own = valuesOf(preset)
  const reload = () => queryClient.invalidateQueries({ queryKey: [client.id, 'presets'] })
  const remove = useMutation({
    mutationFn: () => sluice.presets.remove(name),
    onSuccess: () => {
      void reload()
      toast.success(PLAYGROUND.presetDeleted(name), {
        undo: async () => {
          await sluice.presets.save(name, {
            group,
            parameters: queryOf(own),
            ...(description && { description }),
          })
          await reload()
        },
      })
    },
    onError: toast.failure,
  })
  return (
    <li className="flex items-center gap-1 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="flex items-center gap-2">
          <span className="truncate font-medium text-sm">{name}</span>
          {from === 'shared' && <Badge>{PLAYGROUND.shared}</Badge>}
        </p>
        <p className="truncate font-mono text-muted text-xs" title={description ?? queryOf(own)}>
          {queryOf(own)}
        </p>
      </div>
      <IconButton label={PLAYGROUND.editPreset(name)} size="small" onClick={() => onChoose(own)}>
        <Pencil aria-hidden="true" />
      </IconButton>
      {mayEdit && from === 'client' && (
        <IconButton
          label={PLAYGROUND.deletePreset(name)}
          size="small"
          isBusy={remove.isPending}
          onClick={() => remove.mutate()}
        >
          <Trash2 aria-hidden="true" />
        </IconButton>
      )}
      <Button
        size="small"
        look={isApplied ? 'primary' : 'secondary'}
        aria-label={PLAYGROUND.applyPreset(name)}
        onClick={() => onChoose({ preset: name })}
      >
        {PLAYGROUND.apply}
      </Button>
    </li>
  )
}
