import { useQuery } from '@tanstack/react-query'
import { clsx } from 'clsx'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { useClient } from '../../../api/session.ts'
import { COMMON } from '../../../texts/common.ts'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { FILE_ACTIONS } from '../texts.ts'
import type { DialogProps } from './delete-dialog.tsx'
import { filesOf, sizeOf } from './files-of.ts'
import { reportFailures, useRefresh } from './outcome.ts'

// Requests at the same time.
const PARALLEL = 6
// Each file is one request.
const FILES_MAX = 1000

/** Adds tags to all files of the selection, and removes others. */
export function TagsDialog({ items, onClose }: Omit<DialogProps, 'onDone'>) {
  const { client, sluice } = useClient()
  const refresh = useRefresh()
  // Instead of the keys of all items, of which there may be very many.
  const { files: count } = sizeOf(items)
  const isPossible = count <= FILES_MAX
  const [opened] = useState(() => performance.now())
  const [typed, setTyped] = useState('')
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set())
  const { data: selected, error } = useQuery({
    queryKey: [client.id, 'files', 'selected', opened],
    queryFn: ({ signal }) => filesOf(sluice, items, { signal }),
    enabled: isPossible,
  })
  const tags = [...new Set(selected?.flatMap(({ file }) => file.tags))].sort()

  async function change(): Promise<void> {
    if (!selected) return
    const added = typed.split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()]))
    const changes = selected.flatMap(({ file }) => {
      const next = [...new Set([...file.tags.filter((tag) => !removed.has(tag)), ...added])]
      return next.length === file.tags.length && added.every((tag) => file.tags.includes(tag))
        ? []
        : [{ file, next }]
    })
    const results: Array<{ status: string; detail?: string }> = []
    const waiting = [...changes]
    const worker = async () => {
      for (let one = waiting.shift(); one; one = waiting.shift()) {
        const result = await sluice.files.update(one.file, { tags: one.next }).then(
          () => ({ status: 'changed' }),
          (reason: Error) => ({ status: 'error', detail: reason.message }),
        )
        results.push(result)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
    const done = results.filter(({ status }) => status === 'changed').length
    if (done > 0) toast.success(FILE_ACTIONS.tagged(COMMON.files(done)))
    await refresh()
    // A tag that is not valid fails for all files: it can be corrected here.
    reportFailures(results)
  }
  return (
    <FormDialog
      onClose={onClose}
      title={FILE_ACTIONS.tagsTitle(COMMON.files(count))}
      size="small"
      action={COMMON.save}
      isLoading={isPossible && !selected && !error}
      isDisabled={!selected || (typed.trim() === '' && removed.size === 0)}
      onSubmit={change}
      fieldOf={() => 'added'}
    >
      {(errorAt) => (
        <>
          <Field
            label={FILE_ACTIONS.addTags}
            hint={FILE_ACTIONS.addTagsHint}
            error={isPossible ? (errorAt('added') ?? error?.message) : FILE_ACTIONS.tagsTooMany}
          >
            <Input
              value={typed}
              maxLength={2000}
              autoComplete="off"
              onChange={(event) => setTyped(event.target.value)}
            />
          </Field>
          {tags.length > 0 && (
            <fieldset>
              <legend className="mb-1.5 font-medium text-sm">{FILE_ACTIONS.currentTags}</legend>
              <div className="flex max-h-40 flex-wrap gap-1.5 overflow-y-auto">
                {tags.map((tag) => {
                  const isRemoved = removed.has(tag)
                  const Icon = isRemoved ? Plus : X
                  return (
                    <button
                      key={tag}
                      type="button"
                      aria-label={isRemoved ? FILE_ACTIONS.restoreTag(tag) : FILE_ACTIONS.removeTag(tag)}
                      onClick={() => {
                        const next = new Set(removed)
                        if (!next.delete(tag)) next.add(tag)
                        setRemoved(next)
                      }}
                      className={clsx(
                        'inline-flex h-6 max-w-full items-center gap-1 rounded-full px-2 text-xs',
                        isRemoved ? 'bg-danger-soft text-danger-ink line-through' : 'bg-hover text-ink',
                      )}
                    >
                      <span className="truncate">{tag}</span>
                      <Icon aria-hidden="true" className="size-3 shrink-0" />
                    </button>
                  )
                })}
              </div>
            </fieldset>
          )}
        </>
      )}
    </FormDialog>
  )
}
