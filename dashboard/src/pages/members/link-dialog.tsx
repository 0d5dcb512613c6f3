import { MEMBERS } from '../../texts/members.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { formatTime } from '../../ui/format.ts'
import { Dialog } from '../../ui/overlays/dialog.tsx'

/** A link for a password, and whose it is. */
export interface IssuedLink {
  link: string
  expiresAt: string
  name: string
  /** Whether its use removes passkeys. */
  removesPasskeys?: boolean
}

/** Shows a link once. A click outside does not close it, since the link cannot be shown again. */
export function LinkDialog({ link, onClose }: { link: IssuedLink; onClose: () => void }) {
  return (
    <Dialog
      isOpen
      isModalOnly
      onClose={onClose}
      title={MEMBERS.linkTitle}
      description={[
        MEMBERS.linkText(link.name, formatTime(link.expiresAt)),
        ...(link.removesPasskeys ? [MEMBERS.linkRemovesPasskeys] : []),
      ].join(' ')}
      actions={
        <Button look="primary" onClick={onClose}>
          {MEMBERS.done}
        </Button>
      }
    >
      <CopyField value={link.link} label={MEMBERS.copyLink} />
    </Dialog>
  )
}
