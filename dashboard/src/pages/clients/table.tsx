import { Link, useNavigate } from '@tanstack/react-router'
import type { Client } from '../../../../client/index.ts'
import { nameOf } from '../../layout/client-switcher.tsx'
import { CLIENTS } from '../../texts/clients.ts'
import { Avatar, Badge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatDate } from '../../ui/format.ts'
import { type Column, Table } from '../../ui/table.tsx'

const COLUMNS: ReadonlyArray<Column<Client>> = [
  {
    key: 'name',
    header: CLIENTS.name,
    // Takes the rest of the width, and truncates what is longer.
    className: 'w-full max-w-0',
    cell: (client) => (
      <span className="flex min-w-0 items-center gap-3">
        <Avatar name={nameOf(client)} isSquare />
        <span className="min-w-0">
          <Link
            to="/clients/$id"
            params={{ id: client.id }}
            className="block truncate font-medium hover:underline"
          >
            {nameOf(client)}
          </Link>
          <span className="block truncate text-muted">{client.id}</span>
        </span>
      </span>
    ),
  },
  {
    key: 'rules',
    header: CLIENTS.rules,
    hiddenBelow: 'sm',
    className: 'whitespace-nowrap',
    cell: ({ rules = {}, storage, state }) => {
      const count = Object.keys(rules).length
      return (
        <span className="flex items-center gap-1.5">
          {state === 'removing' && <Badge tone="danger">{CLIENTS.removing}</Badge>}
          {storage && <Badge tone="accent">{CLIENTS.ownBucket}</Badge>}
          <span className="text-muted">{count > 0 ? CLIENTS.ruleCount(count) : CLIENTS.noRules}</span>
        </span>
      )
    },
  },
  {
    key: 'created',
    header: CLIENTS.created,
    hiddenBelow: 'md',
    className: 'whitespace-nowrap text-muted',
    cell: ({ createdAt }) => formatDate(createdAt),
  },
  {
    key: 'token',
    header: CLIENTS.token,
    hiddenBelow: 'sm',
    className: 'whitespace-nowrap',
    cell: (client) => (
      // biome-ignore lint/a11y/noStaticElementInteractions: a click on the button must not open the row
      // biome-ignore lint/a11y/useKeyWithClickEvents: see above
      <span className="flex items-center gap-1" onClick={(event) => event.stopPropagation()}>
        <code className="max-w-36 truncate font-mono text-muted text-xs">{client.clientToken}</code>
        <CopyButton text={client.clientToken} label={CLIENTS.copyToken} size="small" />
      </span>
    ),
  },
]

/** The clients, each with a link to its page. */
export function ClientsTable({ clients }: { clients: readonly Client[] }) {
  const navigate = useNavigate()
  return (
    <Table
      label={CLIENTS.list}
      columns={COLUMNS}
      rows={clients}
      keyOf={({ id }) => id}
      onRowClick={({ id }) => void navigate({ to: '/clients/$id', params: { id } })}
    />
  )
}
