import { Link } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import { Search, Upload } from 'lucide-react'
import type { ReactNode } from 'react'
import { firstClient } from '../api/last-client.ts'
import { useChosenClient, useMay, useSession } from '../api/session.ts'
import { Keys } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { AccountMenu } from './account-menu.tsx'
import { ClientSwitcher } from './client-switcher.tsx'
import { keysOf } from './commands/shortcuts.ts'
import { CLIENT_PAGES, installationPages } from './navigation.tsx'
import { LAYOUT } from './texts.ts'
import { requestUpload } from './uploads.ts'

const LINK =
  'flex h-8 items-center gap-2.5 pointer-coarse:h-10 rounded-md px-2 text-muted text-sm transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink'

function Entry({ Icon, children }: { Icon: LucideIcon; children: ReactNode }) {
  return (
    <>
      <Icon aria-hidden="true" className="size-4 shrink-0" />
      {children}
    </>
  )
}

/** The navigation: on wide windows at the left, on narrow ones in a drawer. */
export function Sidebar({ openPalette }: { openPalette: () => void }) {
  const { clients } = useSession()
  // On pages of the installation, the links lead to the client that was shown last.
  const client = useChosenClient() ?? firstClient(clients)
  const isOwner = useMay('owner')
  const mayUpload = useMay('editor')
  return (
    <div className="flex h-full flex-col">
      <div className="p-3 pr-12 pb-0 md:pr-3">
        <ClientSwitcher client={client} />
      </div>
      <div className="flex flex-col gap-2 p-3">
        {mayUpload && client && (
          <Button
            look="primary"
            icon={<Upload aria-hidden="true" className="size-4" />}
            onClick={() => requestUpload({ clientId: client.id })}
          >
            {LAYOUT.upload}
          </Button>
        )}
        <button
          type="button"
          onClick={openPalette}
          className="flex h-8 items-center gap-2 rounded-md border border-line bg-bg pointer-coarse:h-10 px-2 text-muted text-sm hover:border-line-strong"
        >
          <Search aria-hidden="true" className="size-4" />
          <span className="flex-1 text-left">{LAYOUT.searchShort}</span>
          <Keys keys={keysOf('mod+k')} />
        </button>
      </div>
      <nav aria-label={LAYOUT.mainNavigation} className="min-h-0 flex-1 overflow-y-auto px-3 pb-3">
        {client && (
          <ul className="flex flex-col gap-0.5">
            {CLIENT_PAGES.map(({ to, label, Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  params={{ clientId: client.id, _splat: '' }}
                  activeOptions={{ exact: false }}
                  className={LINK}
                >
                  <Entry Icon={Icon}>{label}</Entry>
                </Link>
              </li>
            ))}
          </ul>
        )}
        {clients.length + Number(isOwner) > 0 && (
          <>
            <h2 className="mt-5 mb-1 px-2 font-medium text-faint text-xs">{LAYOUT.installation}</h2>
            <ul className="flex flex-col gap-0.5">
              {installationPages({ isOwner }).map(({ to, label, Icon }) => (
                <li key={to}>
                  <Link to={to} className={LINK}>
                    <Entry Icon={Icon}>{label}</Entry>
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )}
      </nav>
      <div className="border-line border-t p-2">
        <AccountMenu />
      </div>
    </div>
  )
}
