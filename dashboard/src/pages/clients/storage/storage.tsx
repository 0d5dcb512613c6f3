import { useMutation } from '@tanstack/react-query'
import { HardDrive } from 'lucide-react'
import { useState } from 'react'
import type { Client, ClientStorage } from '../../../../../client/index.ts'
import { installation } from '../../../api/clients.ts'
import { CLIENT_PARTS } from '../../../texts/clients.ts'
import { COMMON } from '../../../texts/common.ts'
import { Button } from '../../../ui/button.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { Card } from '../../../ui/page.tsx'
import { EmptyState, Notice } from '../../../ui/states.tsx'
import { isFirst, useReloadClients } from '../data.ts'
import { BucketFields, bucketOf, EMPTY_BUCKET, fieldOf, settingsOf } from './fields.tsx'

/** Where the files of a client are stored. */
export function StoragePart({ client: { id, storage } }: { client: Client }) {
  const [isAdding, setAdding] = useState(false)
  if (storage || isAdding)
    return (
      // Fields of another bucket have other contents.
      <BucketForm
        key={String(storage !== undefined)}
        id={id}
        storage={storage}
        onEnd={() => setAdding(false)}
      />
    )
  return (
    <Card>
      <EmptyState
        icon={<HardDrive />}
        title={CLIENT_PARTS.sharedTitle}
        actions={!isFirst(id) && <Button onClick={() => setAdding(true)}>{CLIENT_PARTS.useOwn}</Button>}
      >
        {isFirst(id) ? CLIENT_PARTS.firstText : CLIENT_PARTS.sharedText}
      </EmptyState>
    </Card>
  )
}

function BucketForm({
  id,
  storage,
  onEnd,
}: {
  id: string
  /** Undefined: the client gets a bucket of its own. */
  storage: ClientStorage | undefined
  onEnd: () => void
}) {
  const reload = useReloadClients()
  const stored = storage ? bucketOf(storage) : EMPTY_BUCKET
  const [bucket, setBucket] = useState(stored)
  const [isReturning, setReturning] = useState(false)
  const isUnchanged = JSON.stringify(bucket) === JSON.stringify(stored)
  const test = useMutation({
    // The service has the secret access key of the stored settings, and never returns it.
    mutationFn: () =>
      installation.clients.testStorage(id, storage && isUnchanged ? null : settingsOf(bucket)),
  })
  // The service tests the settings in the same way before it stores them.
  const save = useMutation({
    mutationFn: () => installation.clients.setStorage(id, settingsOf(bucket)),
    onSuccess: async (changed) => {
      toast.success(CLIENT_PARTS.connected)
      if (changed.storage) setBucket(bucketOf(changed.storage))
      await reload()
      onEnd()
    },
  })
  const leave = async () => {
    await installation.clients.setStorage(id, null)
    toast.success(CLIENT_PARTS.returned)
    await reload()
    onEnd()
  }
  const change = (next: typeof bucket) => {
    setBucket(next)
    // They are about the former settings.
    test.reset()
    save.reset()
  }
  const submit = () => {
    test.reset()
    save.mutate()
  }
  const tryOut = () => {
    save.reset()
    test.mutate()
  }
  const error = save.error ?? test.error
  return (
    <div className="flex flex-col gap-5">
      <Card title={CLIENT_PARTS.bucketTitle} description={CLIENT_PARTS.bucketText}>
        <Form onSubmit={submit}>
          <BucketFields
            value={bucket}
            onChange={change}
            errorAt={(name) => (fieldOf(error) === name ? error?.message : undefined)}
            isStored={storage !== undefined}
          />
          {error && !fieldOf(error) && <Notice tone="danger">{error.message}</Notice>}
          {test.data && <Notice tone="success">{CLIENT_PARTS.works(test.data.ms)}</Notice>}
          <div className="flex flex-wrap gap-2">
            <Button type="submit" look="primary" isBusy={save.isPending} disabled={test.isPending}>
              {COMMON.save}
            </Button>
            <Button onClick={tryOut} isBusy={test.isPending} disabled={save.isPending}>
              {CLIENT_PARTS.test}
            </Button>
            {!storage && (
              <Button look="quiet" onClick={onEnd}>
                {COMMON.cancel}
              </Button>
            )}
          </div>
        </Form>
      </Card>
      {storage && (
        <Card
          title={CLIENT_PARTS.toShared}
          description={CLIENT_PARTS.toSharedText}
          actions={<Button onClick={() => setReturning(true)}>{CLIENT_PARTS.toShared}</Button>}
        />
      )}
      {isReturning && (
        <ConfirmDialog
          onClose={() => setReturning(false)}
          title={CLIENT_PARTS.toSharedTitle}
          description={CLIENT_PARTS.toSharedText}
          action={CLIENT_PARTS.toShared}
          onConfirm={leave}
        />
      )}
    </div>
  )
}
