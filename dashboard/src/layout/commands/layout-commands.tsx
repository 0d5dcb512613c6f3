import { useNavigate } from '@tanstack/react-router'
import { Keyboard, LogOut, Search, Upload } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { firstClient } from '../../api/last-client.ts'
import { nameOf, useChosenClient, useMay, useSession } from '../../api/session.ts'
import { Avatar } from '../../ui/badge.tsx'
import { setTheme } from '../../ui/theme.ts'
import { THEMES } from '../account-menu.tsx'
import { CLIENT_PAGES, installationPages } from '../navigation.tsx'
import { useSignOut } from '../sign-in/sign-out.ts'
import { LAYOUT } from '../texts.ts'
import { requestUpload } from '../uploads.ts'
import { type Command, useCommands } from './commands.ts'

/** The commands that exist on every page. */
export function useLayoutCommands(open: { openPalette: () => void; openShortcuts: () => void }): void {
  const { clients } = useSession()
  const client = useChosenClient() ?? firstClient(clients)
  const isOwner = useMay('owner')
  const mayUpload = useMay('editor')
  const navigate = useNavigate()
  // Functions of the last render: the commands themselves change rarely.
  const last = useRef({ ...open, signOut: useSignOut() })
  last.current = { ...last.current, ...open }
  const commands = useMemo((): Command[] => {
    const pages = CLIENT_PAGES.flatMap(({ to, label, Icon, shortcut }) =>
      client
        ? [
            {
              id: to,
              title: label,
              group: LAYOUT.go,
              icon: <Icon aria-hidden="true" />,
              shortcut,
              run: () => void navigate({ to, params: { clientId: client.id, _splat: '' } }),
            },
          ]
        : [],
    )
    const ofInstallation = installationPages({ isOwner }).map(({ to, label, Icon, shortcut }) => ({
      id: to,
      title: label,
      group: LAYOUT.go,
      icon: <Icon aria-hidden="true" />,
      shortcut,
      run: () => void navigate({ to }),
    }))
    const upload = client && {
      id: 'upload',
      title: LAYOUT.upload,
      group: LAYOUT.actions,
      icon: <Upload aria-hidden="true" />,
      shortcut: 'u',
      run: () => requestUpload({ clientId: client.id }),
    }
    const others = clients
      .filter(({ id }) => id !== client?.id)
      .map((one) => ({
        id: `client ${one.id}`,
        title: LAYOUT.switchClient(nameOf(one)),
        group: LAYOUT.clients,
        icon: <Avatar name={nameOf(one)} isSquare />,
        run: () => void navigate({ to: '/c/$clientId/files/$', params: { clientId: one.id, _splat: '' } }),
      }))
    const themes = THEMES.map(({ value, label, Icon }) => ({
      id: `theme ${value}`,
      title: `${LAYOUT.theme}: ${label}`,
      group: LAYOUT.actions,
      icon: <Icon aria-hidden="true" />,
      run: () => setTheme(value),
    }))
    return [
      ...pages,
      ...ofInstallation,
      ...(upload && mayUpload ? [upload] : []),
      {
        id: 'palette',
        title: LAYOUT.search,
        group: LAYOUT.actions,
        icon: <Search aria-hidden="true" />,
        shortcut: 'mod+k',
        run: () => last.current.openPalette(),
      },
      {
        id: 'shortcuts',
        title: LAYOUT.shortcuts,
        group: LAYOUT.actions,
        icon: <Keyboard aria-hidden="true" />,
        shortcut: '?',
        run: () => last.current.openShortcuts(),
      },
      ...themes,
      {
        id: 'sign-out',
        title: LAYOUT.signOut,
        group: LAYOUT.actions,
        icon: <LogOut aria-hidden="true" />,
        run: () => void last.current.signOut(),
      },
      ...others,
    ]
  }, [client, clients, isOwner, mayUpload, navigate])
  useCommands(commands)
}
