import type { Item } from '../list/items.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { TagsDialog } from './tags-dialog.tsx'
import { ZipDialog } from './zip-dialog.tsx'

export type Action = 'zip' | 'move' | 'copy' | 'tags' | 'delete'

/** The dialog of an action. Loaded when the first one is opened. */
export function ActionDialog({
  action,
  ...rest
}: {
  action: Action
  items: readonly Item[]
  /** The folder of the page. */
  from: string
  onClose: () => void
  onDone: () => void
}) {
  const { from: _, ...props } = rest
  if (action === 'zip') return <ZipDialog {...props} />
  if (action === 'tags') return <TagsDialog {...props} />
  if (action === 'delete') return <DeleteDialog {...props} />
  return <MoveDialog {...rest} isCopy={action === 'copy'} />
}
