import { useNavigate } from '@tanstack/react-router'
import { Building2, ChevronsUpDown } from 'lucide-react'
import type { SessionClient } from '../../../client/index.ts'
import { nameOf, useMay, useSession } from '../api/session.ts'
import { Avatar } from '../ui/badge.tsx'
import { Menu } from '../ui/overlays/menu.tsx'
import { LAYOUT } from './texts.ts'

/** Chooses the client whose files are shown. */
export function ClientSwitcher({ client }: { client: SessionClient | undefined }) {
  const { clients } = useSession()
  const isOwner = useMay('owner')
  const navigate = useNavigate()
  const choices = clients.map((one) => ({
    label: nameOf(one),
    icon: <Avatar name={nameOf(one)} isSquare />,
    isChecked: one.id === client?.id,
    onSelect: () => void navigate({ to: '/c/$clientId/files/$', params: { clientId: one.id, _splat: '' } }),
  }))
  const manage = {
    label: LAYOUT.manageClients,
    icon: <Building2 aria-hidden="true" />,
    onSelect: () => void navigate({ to: '/clients' }),
  }
  const name = client ? nameOf(client) : LAYOUT.chooseClient
  return (
    <Menu
      groups={[choices, [isOwner && manage]]}
      trigger={
        <button
          type="button"
          className="flex h-10 w-full items-center gap-2.5 rounded-md px-2 text-left hover:bg-hover data-[state=open]:bg-hover"
        >
          <Avatar name={name} isSquare />
          <span className="sr-only">{LAYOUT.client}: </span>
          <span className="min-w-0 flex-1 truncate font-semibold">{name}</span>
          <ChevronsUpDown aria-hidden="true" className="size-4 text-faint" />
        </button>
      }
    />
  )
}
