import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { formatBytes, formatDate } from '../../../../ui/format.ts'
import { ConfirmDialog } from '../../../../ui/overlays/dialog.tsx'
import { toast } from '../../../../ui/overlays/toast.tsx'
import { aliasesQuery } from '../data/aliases.ts'
import { useFileCache } from '../data/file.ts'
import { totalOf } from '../tabs/derivatives.tsx'
import { DETAILS } from '../texts.ts'

/** Deletes a file, after it has listed what is deleted with it. It can be undone when the client has soft delete. */
export function DeleteDialog({
  file,
  onClose,
  onDeleted,
}: {
  file: FileWithDerivatives
  onClose: () => void
  onDeleted: () => void
}) {
  const chosen = useClient()
  const { sluice } = chosen
  const cache = useFileCache(useQueryClient())
  const { data: aliases = [] } = useQuery(aliasesQuery(chosen))
  const affected = aliases.filter((alias) => alias.file === file.s3PathOriginal).length
  const { count, bytes } = totalOf(file)
  const name = file.originalName

  async function restore(): Promise<void> {
    const [report] = await sluice.files.restore(file)
    if (report?.status === 'error') throw new Error(report.detail)
    cache.added()
    toast.success(DETAILS.restored(name))
  }
  async function remove(): Promise<void> {
    const { deletedUntil } = await sluice.files.delete(file)
    cache.removed(file.s3PathOriginal)
    onDeleted()
    if (deletedUntil === undefined) toast.success(DETAILS.deleted(name))
    else
      toast.success(DETAILS.deleted(name), {
        description: DETAILS.deletedUntil(formatDate(deletedUntil)),
        undo: restore,
      })
  }
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={DETAILS.deleteTitle(name)}
      description={DETAILS.deleteHint}
      action={DETAILS.deleteAction}
      onConfirm={remove}
    >
      <p className="mb-1 font-medium text-sm">{DETAILS.deleteWith}</p>
      <ul className="list-disc pl-5 text-muted text-sm">
        <li>{DETAILS.deleteFile(formatBytes(file.size))}</li>
        {count > 0 && <li>{DETAILS.deleteDerivatives(count, formatBytes(bytes))}</li>}
        {affected > 0 && <li>{DETAILS.deleteAliases(affected)}</li>}
      </ul>
    </ConfirmDialog>
  )
}
