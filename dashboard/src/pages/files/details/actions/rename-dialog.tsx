import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FILE_NAME_MAX_BYTES } from '../../../../../../client/generated/limits.ts'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { Field, Input } from '../../../../ui/forms/field.tsx'
import { FormDialog } from '../../../../ui/overlays/dialog.tsx'
import { useFileCache } from '../data/file.ts'
import { DETAILS } from '../texts.ts'

/** Changes the name of a file. */
export function RenameDialog({ file, onClose }: { file: FileWithDerivatives; onClose: () => void }) {
  const { sluice } = useClient()
  const cache = useFileCache(useQueryClient())
  const [name, setName] = useState(file.originalName)
  return (
    <FormDialog
      onClose={onClose}
      title={DETAILS.renameTitle}
      size="small"
      action={DETAILS.renameAction}
      onSubmit={async () => cache.changed(await sluice.files.update(file, { originalName: name }))}
      fieldOf={() => 'name'}
    >
      {(errorAt) => (
        <Field label={DETAILS.name} hint={DETAILS.nameHint} error={errorAt('name')}>
          <Input
            autoFocus
            value={name}
            required
            maxLength={FILE_NAME_MAX_BYTES}
            onChange={({ target }) => setName(target.value)}
            // As in file managers: the ending stays.
            onFocus={({ target }) => target.setSelectionRange(0, endOfStem(target.value))}
          />
        </Field>
      )}
    </FormDialog>
  )
}

function endOfStem(name: string): number {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? dot : name.length
}
