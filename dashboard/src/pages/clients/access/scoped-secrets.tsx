import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Client, ScopedSecret } from '../../../../../client/index.ts'
import { installation } from '../../../api/clients.ts'
import { CLIENTS } from '../../../texts/clients.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatTime } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import type { ShownOnce } from '../../../ui/overlays/once-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { Card } from '../../../ui/page.tsx'
import { useReloadClients } from '../data.ts'
import { ScopedSecretDialog } from './scoped-secret-dialog.tsx'

/** The scoped secrets of a client. */
export function ScopedSecrets({
  client,
  onIssued,
}: {
  client: Client
  onIssued: (secret: ShownOnce) => void
}) {
  const reload = useReloadClients()
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<ScopedSecret>()
  const { secrets = [] } = client
  const remove = async (secret: ScopedSecret) => {
    await installation.clients.removeSecret(client.id, secret.id)
    toast.success(CLIENTS.secretRemoved)
    await reload()
  }
  return (
    <Card
      title={CLIENTS.scoped}
      description={CLIENTS.scopedText}
      isFlush
      actions={
        <Button icon={<Plus aria-hidden="true" className="size-4" />} onClick={() => setAdding(true)}>
          {CLIENTS.addScoped}
        </Button>
      }
    >
      {secrets.length === 0 && <p className="px-4 py-3 text-muted text-sm">{CLIENTS.noScoped}</p>}
      {secrets.length > 0 && (
        <ul className="divide-y divide-line">
          {secrets.map((secret) => (
            <li key={secret.id} className="flex items-center gap-3 px-4 py-2">
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium">{secret.name ?? secret.id}</span>
                <span className="block truncate text-muted text-sm">
                  {secret.folder ?? CLIENTS.allFolders}
                  {' · '}
                  {CLIENTS.expiry}: {secret.until ? formatTime(secret.until) : CLIENTS.expiries.never}
                </span>
              </span>
              <Badge>{CLIENTS.permissions[secret.only ?? 'all']}</Badge>
              <IconButton
                label={CLIENTS.removeSecretOf(secret.name ?? secret.id)}
                onClick={() => setRemoved(secret)}
              >
                <Trash2 aria-hidden="true" />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {isAdding && (
        <ScopedSecretDialog clientId={client.id} onClose={() => setAdding(false)} onIssued={onIssued} />
      )}
      {removed && (
        <ConfirmDialog
          onClose={() => setRemoved(undefined)}
          title={CLIENTS.removeSecretTitle(removed.name ?? removed.id)}
          description={CLIENTS.removeSecretText}
          action={CLIENTS.removeSecret}
          onConfirm={() => remove(removed)}
        />
      )}
    </Card>
  )
}
