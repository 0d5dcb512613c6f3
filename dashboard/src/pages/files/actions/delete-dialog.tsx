import type { ReactNode } from 'react'
import { useClient } from '../../../api/session.ts'
import { COMMON } from '../../../texts/common.ts'
import { formatBytes, formatDate } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import type { Item } from '../list/items.ts'
import { FILE_ACTIONS } from '../texts.ts'
import { sizeOf } from './files-of.ts'
import { reportFailures, useRefresh } from './outcome.ts'

/** What all dialogs of files receive. */
export interface DialogProps {
  items: readonly Item[]
  onClose: () => void
  /** The files have changed. */
  onDone: () => void
}

/** Shows what is deleted, and deletes it. With a trash, the delete can be undone. `children`: details of what is deleted. */
export function DeleteDialog({ items, onClose, onDone, children }: DialogProps & { children?: ReactNode }) {
  const { sluice } = useClient()
  const refresh = useRefresh()
  const { files, bytes } = sizeOf(items)
  const title = items.length === 1 && items[0]?.kind === 'file' ? items[0].name : COMMON.files(files)

  async function remove(): Promise<void> {
    const keys = items.flatMap((item) => (item.kind === 'file' ? [item.id] : []))
    const folders = items.flatMap((item) => (item.kind === 'folder' ? [item.folder.path] : []))
    const results = keys.length > 0 ? await sluice.files.deleteMany(keys) : []
    for (const prefix of folders) results.push(...(await sluice.files.deleteMany({ prefix })))
    reportFailures(results)
    const deleted = results.flatMap((one) => (one.status === 'deleted' ? [one] : []))
    const inTrash = deleted.filter(({ deletedUntil }) => deletedUntil !== undefined)
    const undo = async () => {
      const restored = await sluice.files.restore(inTrash.map(({ path }) => path))
      reportFailures(restored)
      toast.success(FILE_ACTIONS.restored(COMMON.files(restored.filter(isRestored).length)))
      await refresh()
    }
    const [{ deletedUntil = undefined } = {}] = inTrash
    if (deleted.length > 0)
      toast.success(
        FILE_ACTIONS.removed(COMMON.files(deleted.length)),
        deletedUntil ? { description: FILE_ACTIONS.removedUntil(formatDate(deletedUntil)), undo } : {},
      )
    onDone()
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      title={FILE_ACTIONS.removeTitle(title)}
      description={FILE_ACTIONS.removeText(formatBytes(bytes))}
      action={FILE_ACTIONS.remove}
      onConfirm={remove}
    >
      {children}
      <p className="text-muted text-sm">{FILE_ACTIONS.removeUndo}</p>
    </ConfirmDialog>
  )
}

const isRestored = ({ status }: { status: string }) => status === 'restored'
