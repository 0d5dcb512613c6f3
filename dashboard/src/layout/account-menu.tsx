import { useNavigate } from '@tanstack/react-router'
import { BookOpen, Keyboard, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { serviceUrl } from '../api/base.ts'
import { useSession } from '../api/session.ts'
import { Avatar } from '../ui/badge.tsx'
import { Menu } from '../ui/overlays/menu.tsx'
import { setTheme, type Theme, useTheme } from '../ui/theme.ts'
import { currentCommands } from './commands/commands.ts'
import { useSignOut } from './sign-in/sign-out.ts'
import { LAYOUT } from './texts.ts'

/** The choices of the theme, for menus and for the account page. */
export const THEMES = [
  { value: 'light', label: LAYOUT.light, Icon: Sun },
  { value: 'dark', label: LAYOUT.dark, Icon: Moon },
  { value: 'system', label: LAYOUT.system, Icon: Monitor },
] as const satisfies ReadonlyArray<{ value: Theme; label: string; Icon: typeof Sun }>

/** The member, with the theme, the account and the sign-out. */
export function AccountMenu() {
  const { member } = useSession()
  const { theme } = useTheme()
  const navigate = useNavigate()
  const signOut = useSignOut()
  const themes = THEMES.map(({ value, label, Icon }) => ({
    label,
    icon: <Icon aria-hidden="true" />,
    isChecked: theme === value,
    onSelect: () => setTheme(value),
  }))
  const pages = [
    {
      label: LAYOUT.account,
      icon: <UserRound aria-hidden="true" />,
      onSelect: () => void navigate({ to: '/account' }),
    },
    {
      label: LAYOUT.shortcuts,
      icon: <Keyboard aria-hidden="true" />,
      shortcut: ['?'],
      onSelect: () =>
        currentCommands()
          .find(({ id }) => id === 'shortcuts')
          ?.run(),
    },
    {
      label: LAYOUT.documentation,
      icon: <BookOpen aria-hidden="true" />,
      onSelect: () => void window.open(`${serviceUrl}/docs/api`, '_blank', 'noopener'),
    },
  ]
  const leave = { label: LAYOUT.signOut, icon: <LogOut aria-hidden="true" />, onSelect: () => void signOut() }
  return (
    <Menu
      side="top"
      groups={[themes, pages, [leave]]}
      header={
        <>
          <span className="block truncate font-medium">{member.name}</span>
          <span className="block truncate text-muted text-xs">
            {member.email ?? LAYOUT.roles[member.role]}
          </span>
        </>
      }
      trigger={
        <button
          type="button"
          className="flex h-10 w-full items-center gap-2.5 rounded-md px-2 text-left text-sm hover:bg-hover data-[state=open]:bg-hover"
        >
          <Avatar name={member.name} />
          <span className="sr-only">{LAYOUT.account}: </span>
          <span className="min-w-0 flex-1 truncate">{member.name}</span>
          <span className="text-faint text-xs">{LAYOUT.roles[member.role]}</span>
        </button>
      }
    />
  )
}
