import { useMutation } from '@tanstack/react-query'
import { HardDrive } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { Client, ClientStorage } from '../../../../../client/index.ts'
import { sluice } from '../../../api/clients.ts'
import { CLIENT_PARTS } from '../../../texts/clients.ts'
import { Button } from '../../../ui/button.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { Card } from '../../../ui/page.tsx'
import { EmptyState, Notice } from '../../../ui/states.tsx'
import { useReloadClients } from '../data.ts'
import { BucketFields, bucketOf, fieldOf, settingsOf } from './fields.tsx'

/** Where the files of a client are stored. */
export function StoragePart({ client: { id, storage } }: { client: Client }) {
  if (storage) return <BucketForm id={id} storage={storage} />
  return (
    <Card>
      <EmptyState icon={<HardDrive />} title={CLIENT_PARTS.sharedTitle}>
        {CLIENT_PARTS.sharedText}
      </EmptyState>
    </Card>
  )
}

function BucketForm({ id, storage }: { id: string; storage: ClientStorage }) {
  const reload = useReloadClients()
  const [bucket, setBucket] = useState(() => bucketOf(storage))
  // The service writes, reads and deletes an object before it stores the settings.
  const save = useMutation({
    mutationFn: () => sluice.clients.setStorage(id, settingsOf(bucket)),
    onSuccess: async () => {
      toast.success(CLIENT_PARTS.connected)
      await reload()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Card title={CLIENT_PARTS.bucketTitle} description={CLIENT_PARTS.bucketText}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <BucketFields value={bucket} onChange={setBucket} error={save.error} />
        {save.error && !fieldOf(save.error) && <Notice tone="danger">{save.error.message}</Notice>}
        <Button type="submit" look="primary" className="self-start" isBusy={save.isPending}>
          {CLIENT_PARTS.testAndSave}
        </Button>
      </form>
    </Card>
  )
}
