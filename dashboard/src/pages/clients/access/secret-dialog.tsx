import { CLIENTS } from '../../../texts/clients.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyField } from '../../../ui/copy-button.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'

/** A secret or key that the service has just created. */
export interface IssuedSecret {
  title: string
  value: string
  /** The name of the button that copies it. */
  label: string
  /** What to do with it. */
  hint: string
}

/** Shows a secret once. A click outside does not close it, since the secret cannot be shown again. */
export function SecretDialog({ issued, onClose }: { issued: IssuedSecret; onClose: () => void }) {
  return (
    <Dialog
      isOpen
      isModalOnly
      onClose={onClose}
      title={issued.title}
      description={issued.hint}
      actions={
        <Button look="primary" onClick={onClose}>
          {CLIENTS.done}
        </Button>
      }
    >
      <CopyField value={issued.value} label={issued.label} />
    </Dialog>
  )
}
