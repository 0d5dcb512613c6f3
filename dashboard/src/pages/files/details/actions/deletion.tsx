import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { formatBytes } from '../../../../ui/format.ts'
import { DeleteDialog } from '../../actions/delete-dialog.tsx'
import { fileItem } from '../../list/items.ts'
import { aliasesQuery } from '../data/aliases.ts'
import { useFileCache } from '../data/file.ts'
import { totalOf } from '../tabs/derivatives.tsx'
import { DETAILS } from '../texts.ts'

/** Deletes a file, after it has counted what is deleted with it. */
export function Deletion({
  file,
  onClose,
  onDeleted,
}: {
  file: FileWithDerivatives
  onClose: () => void
  onDeleted: () => void
}) {
  const cache = useFileCache(useQueryClient())
  const { data: aliases = [] } = useQuery(aliasesQuery(useClient()))
  const affected = aliases.filter((alias) => alias.file === file.s3PathOriginal).length
  const { count, bytes } = totalOf(file)
  return (
    <DeleteDialog
      items={[fileItem(file)]}
      onClose={onClose}
      onDone={() => {
        cache.removed(file.s3PathOriginal)
        onDeleted()
      }}
    >
      {count + affected > 0 && (
        <div>
          <p className="mb-1 font-medium text-sm">{DETAILS.deleteWith}</p>
          <ul className="list-disc pl-5 text-muted text-sm">
            {count > 0 && <li>{DETAILS.deleteDerivatives(count, formatBytes(bytes))}</li>}
            {affected > 0 && <li>{DETAILS.deleteAliases(affected)}</li>}
          </ul>
        </div>
      )}
    </DeleteDialog>
  )
}
