import { DeleteDialog, type DialogProps } from './delete-dialog.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { TagsDialog } from './tags-dialog.tsx'
import { ZipDialog } from './zip-dialog.tsx'

export type Action = 'zip' | 'move' | 'copy' | 'tags' | 'delete'

/** The dialog of an action. Loaded when the first one is opened. */
export function ActionDialog({
  action,
  from,
  ...props
}: DialogProps & {
  action: Action
  /** The folder of the page. */
  from: string
}) {
  if (action === 'zip') return <ZipDialog {...props} />
  if (action === 'tags') return <TagsDialog {...props} />
  if (action === 'delete') return <DeleteDialog {...props} />
  return <MoveDialog {...props} from={from} isCopy={action === 'copy'} />
}
