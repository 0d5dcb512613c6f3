import { Menu as MenuIcon, Search } from 'lucide-react'
import { firstClient } from '../api/last-client.ts'
import { nameOf, useChosenClient, useSession } from '../api/session.ts'
import { IconButton } from '../ui/button.tsx'
import { LAYOUT } from './texts.ts'

/** The bar of narrow windows. */
export function TopBar({ openMenu, openPalette }: { openMenu: () => void; openPalette: () => void }) {
  const { clients } = useSession()
  const client = useChosenClient() ?? firstClient(clients)
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center gap-2 border-line border-b bg-surface px-2 md:hidden">
      <IconButton label={LAYOUT.openMenu} size="large" onClick={openMenu}>
        <MenuIcon aria-hidden="true" />
      </IconButton>
      <span className="min-w-0 flex-1 truncate font-semibold">
        {client ? nameOf(client) : LAYOUT.console}
      </span>
      <IconButton label={LAYOUT.search} size="large" onClick={openPalette}>
        <Search aria-hidden="true" />
      </IconButton>
    </header>
  )
}
