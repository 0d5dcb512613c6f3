import { Info } from 'lucide-react'
import type { AuditEntry } from '../../../../client/index.ts'
import { nameOf, useSession } from '../../api/session.ts'
import { Avatar } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { formatAgo, formatTime } from '../../ui/format.ts'
import { Popover } from '../../ui/overlays/popover.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { AUDIT } from './texts.ts'

/** Changes, each as a sentence. */
export function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  const { clients } = useSession()
  const clientName = (id: string) => {
    const client = clients.find((one) => one.id === id)
    return client ? nameOf(client) : id
  }
  const columns: Array<Column<AuditEntry>> = [
    {
      key: 'change',
      header: AUDIT.change,
      // Below 1280 px it takes the rest of the width, and has the target, too.
      className: 'w-full max-w-0 xl:w-auto xl:min-w-72 xl:max-w-none',
      cell: ({ member, address, action, at, ...entry }) => (
        <span className="flex items-center gap-3">
          <Avatar name={nameIn({ member, address }) ?? '?'} />
          <span className="min-w-0">
            <span className="font-medium">{nameIn({ member, address }) ?? AUDIT.unknownMember}</span>{' '}
            {AUDIT.actionOf(action)}
            <span className="block truncate text-muted text-xs xl:hidden">
              <span className="sm:hidden">{formatAgo(at)}</span>
              {targetOf({ action, ...entry }) && <span className="sm:hidden"> · </span>}
              {targetOf({ action, ...entry })}
            </span>
          </span>
        </span>
      ),
    },
    {
      key: 'target',
      header: AUDIT.target,
      className: 'max-xl:hidden',
      cell: (entry) => (
        <span className="block max-w-xs truncate xl:max-w-md" title={targetOf(entry)}>
          {targetOf(entry)}
        </span>
      ),
    },
    {
      key: 'client',
      header: AUDIT.client,
      hiddenBelow: 'md',
      cell: ({ client }) => client && clientName(client),
    },
    {
      key: 'address',
      header: AUDIT.address,
      hiddenBelow: 'lg',
      cell: ({ address }) => <span className="text-muted tabular-nums">{address}</span>,
    },
    {
      key: 'at',
      header: AUDIT.at,
      hiddenBelow: 'sm',
      cell: ({ at }) => (
        <time dateTime={at} title={formatTime(at)} className="whitespace-nowrap text-muted">
          {formatAgo(at)}
        </time>
      ),
    },
    {
      key: 'details',
      header: AUDIT.details,
      isHeaderHidden: true,
      isNumeric: true,
      className: 'w-14',
      cell: (entry) => <Details entry={entry} />,
    },
  ]
  return <Table label={AUDIT.list} columns={columns} rows={entries} keyOf={({ id }) => id} />
}

// What the service writes instead of an IP address.
const COMMAND_LINE = 'command line'

/** Undefined for a visitor who is not signed in. */
function nameIn({ member, address }: Pick<AuditEntry, 'member' | 'address'>): string | undefined {
  return member?.name ?? (address === COMMAND_LINE ? AUDIT.commandLine : undefined)
}

/** What was changed, as people know it: the address of a member instead of the ID. A client has a column of its own. */
function targetOf({
  action,
  target,
  client,
  details,
}: Omit<AuditEntry, 'at' | 'member' | 'address'>): string | undefined {
  if (action.startsWith('member.') && typeof details?.email === 'string') return details.email
  return target === client ? undefined : target
}

function Details({ entry: { at, address, action, client, target, details = {} } }: { entry: AuditEntry }) {
  const rows: Array<[label: string, value: unknown]> = [
    [AUDIT.at, formatTime(at)],
    [AUDIT.change, action],
    [AUDIT.address, address],
    [AUDIT.client, client],
    [AUDIT.target, target],
    ...Object.entries(details),
  ]
  return (
    <Popover
      align="end"
      className="w-80"
      trigger={
        <IconButton label={AUDIT.detailsOf(formatTime(at))}>
          <Info aria-hidden="true" />
        </IconButton>
      }
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-sm">
        {rows
          .filter(([, value]) => value !== undefined)
          .map(([label, value]) => (
            <div key={label} className="contents">
              <dt className="text-muted">{label}</dt>
              <dd className="break-words font-mono text-xs leading-5">
                {typeof value === 'string' ? value : JSON.stringify(value)}
              </dd>
            </div>
          ))}
      </dl>
    </Popover>
  )
}
