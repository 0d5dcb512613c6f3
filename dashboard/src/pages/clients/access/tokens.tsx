import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import type { Client } from '../../../../../client/index.ts'
import { installation } from '../../../api/clients.ts'
import { nameOf } from '../../../api/session.ts'
import { CLIENTS } from '../../../texts/clients.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyField } from '../../../ui/copy-button.tsx'
import { formatTime } from '../../../ui/format.ts'
import { Field } from '../../../ui/forms/field.tsx'
import { Select } from '../../../ui/forms/select.tsx'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import type { ShownOnce } from '../../../ui/overlays/once-dialog.tsx'
import { Card } from '../../../ui/page.tsx'
import { Notice } from '../../../ui/states.tsx'
import { useReloadClients } from '../data.ts'

type Overlap = keyof typeof CLIENTS.overlaps

const OVERLAPS = Object.entries(CLIENTS.overlaps).map(([value, label]) => ({
  value: value as Overlap,
  label,
}))

/** The public token, and the rotation of the secret. */
export function Tokens({ client, onIssued }: { client: Client; onIssued: (secret: ShownOnce) => void }) {
  const reload = useReloadClients()
  const [isRotating, setRotating] = useState(false)
  const [overlap, setOverlap] = useState<Overlap>('86400')
  const rotate = async () => {
    const { secretClientToken } = await installation.clients.rotate(client.id, {
      keepOldSeconds: Number(overlap),
    })
    onIssued({
      title: CLIENTS.secretTitle(nameOf(client)),
      value: secretClientToken,
      label: CLIENTS.copySecret,
      hint: CLIENTS.secretOnce,
    })
    await reload()
  }
  return (
    <>
      <Card title={CLIENTS.token} description={CLIENTS.tokenHint}>
        <CopyField value={client.clientToken} label={CLIENTS.copyToken} />
      </Card>
      <Card
        title={CLIENTS.secret}
        description={CLIENTS.secretText}
        actions={
          <Button icon={<RotateCw aria-hidden="true" className="size-4" />} onClick={() => setRotating(true)}>
            {CLIENTS.rotate}
          </Button>
        }
      >
        {client.oldSecretUntil && <Notice>{CLIENTS.oldUntil(formatTime(client.oldSecretUntil))}</Notice>}
      </Card>
      {isRotating && (
        <ConfirmDialog
          look="primary"
          onClose={() => setRotating(false)}
          title={CLIENTS.rotateTitle(nameOf(client))}
          description={CLIENTS.rotateText}
          action={CLIENTS.rotate}
          onConfirm={rotate}
        >
          <Field label={CLIENTS.overlap} hint={CLIENTS.overlapHint}>
            <Select value={overlap} onChange={setOverlap} options={OVERLAPS} />
          </Field>
        </ConfirmDialog>
      )}
    </>
  )
}
