import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { COMMON } from '../../../../texts/common.ts'
import { DETAILS } from '../../../../texts/details.ts'
import { Button } from '../../../../ui/button.tsx'
import { Field, Input } from '../../../../ui/forms/field.tsx'
import { Dialog } from '../../../../ui/overlays/dialog.tsx'
import { useFileCache } from '../data/file.ts'

/** Changes the name of a file. */
export function RenameDialog({ file, onClose }: { file: FileWithDerivatives; onClose: () => void }) {
  const { sluice } = useClient()
  const cache = useFileCache(useQueryClient())
  const form = useId()
  const [name, setName] = useState(file.originalName)
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => sluice.files.update(file, { originalName: name }),
    onSuccess(changed) {
      cache.changed(changed)
      onClose()
    },
  })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={DETAILS.renameTitle}
      size="small"
      actions={
        <>
          <Button onClick={onClose}>{COMMON.cancel}</Button>
          <Button type="submit" form={form} look="primary" isBusy={isPending}>
            {DETAILS.renameAction}
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <Field label={DETAILS.name} hint={DETAILS.nameHint} error={error?.message}>
          <Input
            autoFocus
            value={name}
            required
            maxLength={255}
            onChange={({ target }) => setName(target.value)}
            // As in file managers: the ending stays.
            onFocus={({ target }) => target.setSelectionRange(0, endOfStem(target.value))}
          />
        </Field>
      </form>
    </Dialog>
  )
}

function endOfStem(name: string): number {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? dot : name.length
}
