import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { useClient, useMay } from '../../../../api/session.ts'
import { COMMON } from '../../../../texts/common.ts'
import { Button } from '../../../../ui/button.tsx'
import { Field, Input } from '../../../../ui/forms/field.tsx'
import { toast } from '../../../../ui/overlays/toast.tsx'
import { Notice } from '../../../../ui/states.tsx'
import { useFileCache } from '../data/file.ts'
import { DETAILS } from '../texts.ts'
import { FocalPoint } from './focal-point.tsx'
import { type Entry, entryOf } from './metadata-entry.ts'
import { MetadataField } from './metadata-field.tsx'
import { TagsField } from './tags-field.tsx'

/** The name, tags, metadata and focal point of a file. */
export function Edit({ file }: { file: FileWithDerivatives }) {
  const { sluice } = useClient()
  const cache = useFileCache(useQueryClient())
  const mayEdit = useMay('editor')
  const [name, setName] = useState(file.originalName)
  const [tags, setTags] = useState<readonly string[]>(file.tags)
  const [entries, setEntries] = useState(() => entriesOf(file))
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      sluice.files.update(file, { originalName: name, tags: [...tags], metadata: changes(file, entries) }),
    onSuccess(changed) {
      cache.changed(changed)
      setName(changed.originalName)
      setTags(changed.tags)
      setEntries(entriesOf(changed))
      toast.success(DETAILS.saved)
    },
  })
  const isChanged =
    name !== file.originalName ||
    tags.join('\n') !== file.tags.join('\n') ||
    JSON.stringify(metadataOf(entries)) !== JSON.stringify(file.metadata)
  const save = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  const discard = () => {
    setName(file.originalName)
    setTags(file.tags)
    setEntries(entriesOf(file))
  }
  return (
    <div className="flex flex-col gap-6">
      <form onSubmit={save}>
        <fieldset disabled={!mayEdit} className="flex flex-col gap-4">
          {!mayEdit && <Notice tone="accent">{DETAILS.readOnly}</Notice>}
          <Field label={DETAILS.name} hint={DETAILS.nameHint}>
            <Input value={name} onChange={({ target }) => setName(target.value)} required maxLength={255} />
          </Field>
          <TagsField tags={tags} onChange={setTags} />
          <MetadataField entries={entries} onChange={setEntries} />
          {error && (
            <Notice tone="danger">
              {DETAILS.saveFailed}: {error.message}
            </Notice>
          )}
          {mayEdit && (
            <div className="flex gap-2">
              <Button type="submit" look="primary" isBusy={isPending} disabled={!isChanged}>
                {COMMON.save}
              </Button>
              {isChanged && (
                <Button look="quiet" onClick={discard}>
                  {DETAILS.discard}
                </Button>
              )}
            </div>
          )}
        </fieldset>
      </form>
      {file.mimeType === 'image' && <FocalPoint file={file} />}
    </div>
  )
}

function entriesOf({ metadata }: FileWithDerivatives): readonly Entry[] {
  return Object.entries(metadata).map(([name, value]) => entryOf(name, value))
}

function metadataOf(entries: readonly Entry[]): Record<string, string> {
  return Object.fromEntries(
    entries.flatMap(({ name, value }) => (name.trim() === '' ? [] : [[name.trim(), value]])),
  )
}

/** All entries, and null for those that were removed. */
function changes(
  { metadata }: FileWithDerivatives,
  entries: readonly Entry[],
): Record<string, string | null> {
  const removed = Object.keys(metadata).map((name) => [name, null] as const)
  return { ...Object.fromEntries(removed), ...metadataOf(entries) }
}
