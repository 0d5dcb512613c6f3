import { Button } from '../button.tsx'
import { CopyField } from '../copy-button.tsx'
import { Dialog } from './dialog.tsx'

/** What the service has just created and cannot show again: a secret, a key or a link. */
export interface ShownOnce {
  title: string
  value: string
  /** The name of the button that copies it. */
  label: string
  /** What to do with it. */
  hint: string
}

/** Shows something once. A click outside does not close it. */
export function OnceDialog({
  shown,
  done,
  onClose,
}: {
  shown: ShownOnce
  /** The text of the button that closes it. */
  done: string
  onClose: () => void
}) {
  return (
    <Dialog
      isOpen
      isModalOnly
      onClose={onClose}
      title={shown.title}
      description={shown.hint}
      actions={
        <Button look="primary" onClick={onClose}>
          {done}
        </Button>
      }
    >
      <CopyField value={shown.value} label={shown.label} />
    </Dialog>
  )
}
