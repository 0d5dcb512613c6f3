import { useSyncExternalStore } from 'react'

/** What the member has chosen. `system`: as the operating system. */
export type Theme = 'light' | 'dark' | 'system'

const KEY = 'sluice-theme'
const listeners = new Set<() => void>()
const system = matchMedia('(prefers-color-scheme: dark)')

function chosen(): Theme {
  const stored = localStorage.getItem(KEY)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

/** Stores the choice, and shows it at once. */
export function setTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  applyTheme()
  for (const listener of listeners) listener()
}

/** Marks the document with the chosen theme. Called before the first page is shown. */
export function applyTheme(): void {
  const theme = chosen()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  system.addEventListener('change', listener)
  return () => {
    listeners.delete(listener)
    system.removeEventListener('change', listener)
  }
}

/** The chosen theme, and whether the page is dark now, for example for the colours of a chart. */
export function useTheme(): { theme: Theme; isDark: boolean } {
  const theme = useSyncExternalStore(subscribe, chosen)
  const isSystemDark = useSyncExternalStore(subscribe, () => system.matches)
  return { theme, isDark: theme === 'system' ? isSystemDark : theme === 'dark' }
}
