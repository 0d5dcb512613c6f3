import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FileWithDerivatives, ListedFile } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { Field } from '../../../../ui/forms/field.tsx'
import { Select } from '../../../../ui/forms/select.tsx'
import { FormDialog } from '../../../../ui/overlays/form-dialog.tsx'
import { toast } from '../../../../ui/overlays/toast.tsx'
import { folderOf, useFileCache } from '../data/file.ts'
import { DETAILS } from '../texts.ts'
import { FolderField } from './folder-field.tsx'

const REDIRECTS = [
  { value: 'none', label: DETAILS.redirectNone },
  { value: '24h', label: DETAILS.redirectFor(DETAILS.day) },
  { value: '7d', label: DETAILS.redirectFor(DETAILS.week) },
  { value: '30d', label: DETAILS.redirectFor(DETAILS.month) },
  { value: '365d', label: DETAILS.redirectFor(DETAILS.year) },
]

/** Moves or copies a file into a folder. */
export function MoveDialog({
  file,
  action,
  onClose,
  onShow,
}: {
  file: FileWithDerivatives
  action: 'move' | 'copy'
  onClose: () => void
  /** Shows the details of another file: the moved one, or the copy. */
  onShow: (key: string) => void
}) {
  const { sluice } = useClient()
  const cache = useFileCache(useQueryClient())
  const [folder, setFolder] = useState(folderOf(file))
  const [redirect, setRedirect] = useState('30d')
  const isMove = action === 'move'
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (): Promise<ListedFile> => {
      const target = folder.trim().replace(/^\/+|\/+$/g, '')
      // A path with the name retains the id of a moved file. A copy has its own.
      const to = isMove && target ? `${target}/${file.sourceName}` : isMove ? file.sourceName : target
      const [result] = isMove
        ? await sluice.files.move([{ file, to, ...(redirect !== 'none' && { redirect }) }])
        : await sluice.files.copy([{ file, to }])
      if (!result || result.status === 'error') throw new Error(result?.detail)
      return result.file
    },
    onSuccess({ s3PathOriginal }) {
      if (isMove) cache.removed(file.s3PathOriginal)
      cache.added()
      onClose()
      if (isMove) {
        onShow(s3PathOriginal)
        toast.success(DETAILS.moved)
      } else
        toast.success(DETAILS.copied, {
          action: { label: DETAILS.show, onSelect: () => onShow(s3PathOriginal) },
        })
    },
  })
  return (
    <FormDialog
      onClose={onClose}
      title={isMove ? DETAILS.moveTitle : DETAILS.copyTitle}
      action={isMove ? DETAILS.moveAction : DETAILS.copyAction}
      isBusy={isPending}
      isDisabled={isMove && folder === folderOf(file)}
      onSubmit={() => mutate()}
    >
      <FolderField value={folder} onChange={setFolder} error={error?.message} />
      {isMove && (
        <Field label={DETAILS.redirect} hint={DETAILS.redirectHint}>
          <Select value={redirect} onChange={setRedirect} options={REDIRECTS} />
        </Field>
      )}
    </FormDialog>
  )
}
