import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Passkey } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { hasPasskeys } from '../../api/passkeys.ts'
import { sessionQuery, useSession } from '../../api/session.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { formatAgo, formatDate, formatTime } from '../../ui/format.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Card } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { AddPasskeyDialog } from './add-passkey-dialog.tsx'
import { RemovePasswordDialog } from './remove-password-dialog.tsx'

/** The passkeys of the signed-in member. */
const passkeysQuery = queryOptions({
  queryKey: ['session', 'passkeys'],
  queryFn: ({ signal }) => installation.sessions.passkeys.list({ signal }),
})

/** The passkeys of the member: adds and removes them, and removes the password. */
export function PasskeysCard() {
  const { member } = useSession()
  const queryClient = useQueryClient()
  const query = useQuery(passkeysQuery)
  const [isAdding, setAdding] = useState(false)
  const [isRemovingPassword, setRemovingPassword] = useState(false)
  const [removed, setRemoved] = useState<Passkey>()
  const reload = () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
  const remove = async (passkey: Passkey) => {
    await installation.sessions.passkeys.remove(passkey.id)
    await reload()
    toast.success(PASSKEYS.removed(passkey.name))
  }
  const { data: passkeys = [] } = query
  // Without a password, the last one opens the account.
  const isNeeded = Boolean(member.passkeyOnly) && passkeys.length === 1
  return (
    <Card
      title={PASSKEYS.title}
      description={PASSKEYS.text}
      isFlush
      actions={
        hasPasskeys && (
          <Button icon={<Plus aria-hidden="true" className="size-4" />} onClick={() => setAdding(true)}>
            {PASSKEYS.add}
          </Button>
        )
      }
    >
      {query.isPending && <Skeleton className="m-4 h-9" />}
      {query.error && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {query.data?.length === 0 && (
        <p className="px-4 py-3 text-muted text-sm">
          {PASSKEYS.none} {!hasPasskeys && PASSKEYS.unavailable}
        </p>
      )}
      {passkeys.length > 0 && (
        <ul className="divide-y divide-line">
          {passkeys.map((passkey) => (
            <li key={passkey.id} className="flex items-center gap-3 px-4 py-2">
              <KeyRound aria-hidden="true" className="size-4 shrink-0 text-muted" />
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium" title={passkey.name}>
                  {passkey.name}
                </span>
                <PasskeyTimes passkey={passkey} />
              </span>
              {!isNeeded && (
                <IconButton label={PASSKEYS.removeOf(passkey.name)} onClick={() => setRemoved(passkey)}>
                  <Trash2 aria-hidden="true" />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {isNeeded && <p className="border-line border-t px-4 py-3 text-muted text-sm">{PASSKEYS.lastText}</p>}
      {passkeys.length > 0 && !member.passkeyOnly && (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-t px-4 py-3">
          <p className="min-w-0 flex-1 basis-64 text-pretty text-muted text-sm">{PASSKEYS.onlyText}</p>
          <Button onClick={() => setRemovingPassword(true)}>{PASSKEYS.only}</Button>
        </div>
      )}
      {isAdding && <AddPasskeyDialog onClose={() => setAdding(false)} onAdded={reload} />}
      {isRemovingPassword && <RemovePasswordDialog onClose={() => setRemovingPassword(false)} />}
      {removed && (
        <ConfirmDialog
          onClose={() => setRemoved(undefined)}
          title={PASSKEYS.removeTitle(removed.name)}
          description={PASSKEYS.removeText}
          action={PASSKEYS.remove}
          onConfirm={() => remove(removed)}
        />
      )}
    </Card>
  )
}

function PasskeyTimes({ passkey: { createdAt, lastUsedAt } }: { passkey: Passkey }) {
  return (
    <span className="block truncate text-muted text-sm">
      <span title={formatTime(createdAt)}>{PASSKEYS.added(formatDate(createdAt))}</span>
      {' · '}
      <span title={lastUsedAt && formatTime(lastUsedAt)}>
        {lastUsedAt ? PASSKEYS.used(formatAgo(lastUsedAt)) : PASSKEYS.unused}
      </span>
    </span>
  )
}
