import { useMutation } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Client } from '../../../../../client/index.ts'
import { installation } from '../../../api/clients.ts'
import { CLIENTS } from '../../../texts/clients.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import type { ShownOnce } from '../../../ui/overlays/once-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { Card } from '../../../ui/page.tsx'
import { useReloadClients } from '../data.ts'

/** The keys of a client that sign delivery URLs. */
export function DeliveryKeys({
  client,
  onIssued,
}: {
  client: Client
  onIssued: (secret: ShownOnce) => void
}) {
  const reload = useReloadClients()
  const [removed, setRemoved] = useState<number>()
  const { urlKeys = [] } = client
  const add = useMutation({
    mutationFn: () => installation.clients.addUrlKey(client.id),
    onSuccess: async ({ urlKey: { version, key } }) => {
      onIssued({
        title: CLIENTS.keyTitle(version),
        value: key,
        label: CLIENTS.copyKey,
        hint: CLIENTS.keyOnce,
      })
      await reload()
    },
    onError: toast.failure,
  })
  const remove = async (version: number) => {
    await installation.clients.removeUrlKey(client.id, version)
    toast.success(CLIENTS.keyRemoved)
    await reload()
  }
  return (
    <Card
      title={CLIENTS.keys}
      description={CLIENTS.keysText}
      isFlush
      actions={
        <Button
          icon={<Plus aria-hidden="true" className="size-4" />}
          isBusy={add.isPending}
          onClick={() => add.mutate()}
        >
          {CLIENTS.addKey}
        </Button>
      }
    >
      {urlKeys.length === 0 && <p className="px-4 py-3 text-muted text-sm">{CLIENTS.noKeys}</p>}
      {urlKeys.length > 0 && (
        <ul className="divide-y divide-line">
          {urlKeys.map((version) => (
            <li key={version} className="flex items-center justify-between px-4 py-2">
              {CLIENTS.keyVersion(version)}
              <IconButton label={CLIENTS.removeKey(version)} onClick={() => setRemoved(version)}>
                <Trash2 aria-hidden="true" />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {removed !== undefined && (
        <ConfirmDialog
          onClose={() => setRemoved(undefined)}
          title={CLIENTS.removeKeyTitle(removed)}
          description={CLIENTS.removeKeyText}
          action={CLIENTS.removeKey(removed)}
          onConfirm={() => remove(removed)}
        />
      )}
    </Card>
  )
}
