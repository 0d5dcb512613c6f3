import { useQuery } from '@tanstack/react-query'
import { ArrowUp, FolderClosed } from 'lucide-react'
import type { Folder } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { Field, Input } from '../../../../ui/forms/field.tsx'
import { DETAILS } from '../texts.ts'

const SHOWN_MAX = 100
const ITEM =
  'flex h-8 w-full items-center gap-2 px-2.5 text-left text-sm outline-offset-[-2px] hover:bg-hover [&>svg]:size-4 [&>svg]:text-muted'

/** A folder: typed, or chosen step by step. */
export function FolderField({
  value,
  onChange,
  error,
}: {
  value: string
  onChange: (folder: string) => void
  error?: string | undefined
}) {
  const { client, sluice } = useClient()
  const { data: folders } = useQuery({
    queryKey: [client.id, 'file', 'folders', value],
    queryFn: async ({ signal }) => {
      const found: Folder[] = []
      for await (const folder of sluice.folders.list({
        ...(value && { prefix: value }),
        limit: SHOWN_MAX,
        signal,
      })) {
        found.push(folder)
        if (found.length === SHOWN_MAX) break
      }
      return found
    },
    placeholderData: (previous) => previous,
  })
  return (
    <div className="flex flex-col gap-2">
      <Field label={DETAILS.targetFolder} hint={DETAILS.targetHint} error={error}>
        <Input value={value} onChange={({ target }) => onChange(target.value)} autoComplete="off" autoFocus />
      </Field>
      {/* biome-ignore lint/a11y/useSemanticElements: it is no fieldset */}
      <div
        role="group"
        aria-label={DETAILS.foldersHere}
        className="h-40 overflow-y-auto rounded-md border border-line bg-surface py-1"
      >
        {value !== '' && (
          <button
            type="button"
            className={ITEM}
            onClick={() => onChange(value.split('/').slice(0, -1).join('/'))}
          >
            <ArrowUp aria-hidden="true" />
            {value.split('/').slice(0, -1).join('/') || DETAILS.topFolder}
          </button>
        )}
        {folders?.length === 0 && <p className="px-2.5 py-1.5 text-faint text-sm">{DETAILS.noFolders}</p>}
        {folders?.map(({ name, path }) => (
          <button type="button" key={path} className={ITEM} onClick={() => onChange(path)}>
            <FolderClosed aria-hidden="true" />
            <span className="truncate">{name}</span>
          </button>
        ))}
      </div>
    </div>
  )
}
