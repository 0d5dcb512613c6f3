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
import { Card } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { AddPasskeyDialog } from './add-passkey-dialog.tsx'
import { RemovePasskeyDialog } from './remove-passkey-dialog.tsx'
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
  const { data: passkeys = [] } = query
  const here = passkeys.filter(isOfThisAddress)
  // Without a password, the last one for this address opens the account.
  const needed = member.passkeyOnly && here.length === 1 ? here[0] : undefined
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
              {passkey !== needed && (
                <IconButton label={PASSKEYS.removeOf(passkey.name)} onClick={() => setRemoved(passkey)}>
                  <Trash2 aria-hidden="true" />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {needed && <p className="border-line border-t px-4 py-3 text-muted text-sm">{PASSKEYS.lastText}</p>}
      {here.length > 0 && !member.passkeyOnly && (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-t px-4 py-3">
          <p className="min-w-0 flex-1 basis-64 text-pretty text-muted text-sm">{PASSKEYS.onlyText}</p>
          <Button onClick={() => setRemovingPassword(true)}>{PASSKEYS.only}</Button>
        </div>
      )}
      {isAdding && <AddPasskeyDialog onClose={() => setAdding(false)} onAdded={reload} />}
      {isRemovingPassword && <RemovePasswordDialog onClose={() => setRemovingPassword(false)} />}
      {removed && <RemovePasskeyDialog passkey={removed} onClose={() => setRemoved(undefined)} />}
    </Card>
  )
}

/** Whether browsers use the passkey here: it may be of a former address of the console. */
function isOfThisAddress({ origin }: Passkey): boolean {
  return origin === window.location.origin
}

function PasskeyTimes({ passkey }: { passkey: Passkey }) {
  const { createdAt, lastUsedAt, origin } = passkey
  return (
    <span className="block truncate text-muted text-sm">
      {!isOfThisAddress(passkey) && `${PASSKEYS.otherAddress(origin)} · `}
      <span title={formatTime(createdAt)}>{PASSKEYS.added(formatDate(createdAt))}</span>
      {' · '}
      <span title={lastUsedAt && formatTime(lastUsedAt)}>
        {lastUsedAt ? PASSKEYS.used(formatAgo(lastUsedAt)) : PASSKEYS.unused}
      </span>
    </span>
  )
}
