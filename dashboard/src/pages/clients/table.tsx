import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Client, SessionClient } from '../../../../client/index.ts'
import { nameOf } from '../../api/session.ts'
import { CLIENTS } from '../../texts/clients.ts'
import { Avatar, Badge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatDate } from '../../ui/format.ts'
import { type Column, Table } from '../../ui/table.tsx'

// Takes the rest of the width, and truncates what is longer.
const REST = 'w-full max-w-0'
const NAME = 'block truncate font-medium hover:underline'

function NameCell({ of, link }: { of: Pick<Client, 'id' | 'name'>; link: ReactNode }) {
  return (
    <span className="flex min-w-0 items-center gap-3">
      <Avatar name={nameOf(of)} isSquare />
      <span className="min-w-0">
        {link}
        <span className="block truncate text-muted">{of.id}</span>
      </span>
    </span>
  )
}

function Token({ token }: { token: string }) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a click on the button must not open the row
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <span className="flex items-center gap-1" onClick={(event) => event.stopPropagation()}>
      <code className="max-w-36 truncate font-mono text-muted text-xs max-sm:hidden">{token}</code>
      <CopyButton text={token} label={CLIENTS.copyToken} size="small" />
    </span>
  )
}

function State({ client: { state, storage } }: { client: Client }) {
  return (
    <>
      {state === 'removing' && <Badge tone="danger">{CLIENTS.removing}</Badge>}
      {storage && <Badge tone="accent">{CLIENTS.ownBucket}</Badge>}
    </>
  )
}

const COLUMNS: ReadonlyArray<Column<Client>> = [
  {
    key: 'name',
    header: CLIENTS.name,
    className: REST,
    cell: (client) => (
      <>
        <NameCell
          of={client}
          link={
            <Link to="/clients/$id" params={{ id: client.id }} className={NAME} title={nameOf(client)}>
              {nameOf(client)}
            </Link>
          }
        />
        <span className="mt-1 flex gap-1.5 pl-9 empty:hidden sm:hidden">
          <State client={client} />
        </span>
      </>
    ),
  },
  {
    key: 'rules',
    header: CLIENTS.rules,
    hiddenBelow: 'sm',
    className: 'whitespace-nowrap',
    cell: (client) => {
      const count = Object.keys(client.rules ?? {}).length
      return (
        <span className="flex items-center gap-1.5">
          <State client={client} />
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
    className: 'whitespace-nowrap',
    cell: ({ clientToken }) => <Token token={clientToken} />,
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

const COLUMNS_OF_MEMBER: ReadonlyArray<Column<SessionClient>> = [
  {
    key: 'name',
    header: CLIENTS.name,
    className: REST,
    cell: (client) => (
      <NameCell
        of={client}
        link={
          <Link to="/c/$clientId/files/$" params={{ clientId: client.id, _splat: '' }} className={NAME}>
            {nameOf(client)}
          </Link>
        }
      />
    ),
  },
  {
    key: 'token',
    header: CLIENTS.token,
    className: 'whitespace-nowrap',
    cell: ({ token }) => <Token token={token} />,
  },
]

/** The clients that a member may see, each with a link to its files. */
export function MemberClientsTable({ clients }: { clients: readonly SessionClient[] }) {
  return <Table label={CLIENTS.list} columns={COLUMNS_OF_MEMBER} rows={clients} keyOf={({ id }) => id} />
}
