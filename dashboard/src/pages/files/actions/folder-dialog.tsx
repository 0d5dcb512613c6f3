import { type FormEvent, useId, useState } from 'react'
import { COMMON } from '../../../texts/common.ts'
import { FILE_ACTIONS } from '../../../texts/files.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'

/** The name of a new folder, which opens at once: folders exist by their files. */
export function FolderDialog({
  onClose,
  onCreate,
}: {
  onClose: () => void
  onCreate: (name: string) => void
}) {
  const formId = useId()
  const [name, setName] = useState('')
  const [failure, setFailure] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name === '') setFailure(FILE_ACTIONS.folderNameMissing)
    else if (name !== name.trim() || /[/\\]/.test(name) || /^\.{1,2}$/.test(name))
      setFailure(FILE_ACTIONS.folderNameBad)
    else onCreate(name)
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={FILE_ACTIONS.newFolder}
      description={FILE_ACTIONS.newFolderText}
      size="small"
      actions={
        <>
          <Button onClick={onClose}>{COMMON.cancel}</Button>
          <Button look="primary" type="submit" form={formId}>
            {FILE_ACTIONS.create}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit}>
        <Field label={FILE_ACTIONS.folderName} error={failure}>
          <Input
            value={name}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => {
              setName(event.target.value)
              setFailure(undefined)
            }}
          />
        </Field>
      </form>
    </Dialog>
  )
}
