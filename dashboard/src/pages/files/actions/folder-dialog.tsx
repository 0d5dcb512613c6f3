import { useState } from 'react'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/overlays/dialog.tsx'
import { FILE_ACTIONS } from '../texts.ts'

/** The name of a new folder, which opens at once: folders exist by their files. */
export function FolderDialog({
  onClose,
  onCreate,
}: {
  onClose: () => void
  onCreate: (name: string) => void
}) {
  const [name, setName] = useState('')
  const create = async () => {
    if (name === '') throw new Error(FILE_ACTIONS.folderNameMissing)
    if (name !== name.trim() || /[/\\]/.test(name) || /^\.{1,2}$/.test(name))
      throw new Error(FILE_ACTIONS.folderNameBad)
    onCreate(name)
  }
  return (
    <FormDialog
      onClose={onClose}
      title={FILE_ACTIONS.newFolder}
      description={FILE_ACTIONS.newFolderText}
      size="small"
      action={FILE_ACTIONS.create}
      onSubmit={create}
      fieldOf={() => 'name'}
    >
      {(errorAt) => (
        <Field label={FILE_ACTIONS.folderName} error={errorAt('name')}>
          <Input
            value={name}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      )}
    </FormDialog>
  )
}
