import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useMemo, useState } from 'react'
import { FILE_NAME_MAX_BYTES } from '../../../../../../client/generated/limits.ts'
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
  // Undefined: as in the file, which others may change while it is shown.
  const [name = file.originalName, setName] = useState<string>()
  const [tags = file.tags, setTags] = useState<readonly string[]>()
  const loaded = useMemo(() => entriesOf(file.metadata), [file.metadata])
  const [entries = loaded, setEntries] = useState<readonly Entry[]>()
  const isRenamed = name !== file.originalName
  const isTagged = tags.join('\n') !== file.tags.join('\n')
  const isDescribed = JSON.stringify(metadataOf(entries)) !== JSON.stringify(file.metadata)
  const discard = () => {
    setName(undefined)
    setTags(undefined)
    setEntries(undefined)
  }
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      sluice.files.update(file, {
        ...(isRenamed && { originalName: name }),
        ...(isTagged && { tags: [...tags] }),
        ...(isDescribed && { metadata: changes(file, entries) }),
      }),
    onSuccess(changed) {
      cache.changed(changed)
      discard()
      toast.success(DETAILS.saved)
    },
  })
  const isChanged = isRenamed || isTagged || isDescribed
  const save = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <div className="flex flex-col gap-6">
      <form onSubmit={save}>
        <fieldset disabled={!mayEdit} className="flex flex-col gap-4">
          {!mayEdit && <Notice tone="accent">{DETAILS.readOnly}</Notice>}
          <Field label={DETAILS.name} hint={DETAILS.nameHint}>
            <Input
              value={name}
              onChange={({ target }) => setName(target.value)}
              required
              maxLength={FILE_NAME_MAX_BYTES}
            />
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

function entriesOf(metadata: FileWithDerivatives['metadata']): readonly Entry[] {
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
