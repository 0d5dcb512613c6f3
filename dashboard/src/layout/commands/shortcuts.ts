import { useEffect } from 'react'
import { currentCommands } from './commands.ts'

const SEQUENCE_MS = 1200
const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** The keys of a shortcut, as they are printed on the keyboard. */
export function keysOf(shortcut: string): string[] {
  const names: Record<string, string> = { mod: isMac ? '⌘' : 'Ctrl', shift: '⇧', enter: '↵', escape: 'Esc' }
  return shortcut.split(/[+ ]/).map((key) => names[key] ?? key.toUpperCase())
}

/** Runs the commands of shortcuts. Keys in text fields, and in dialogs and menus that are open, are left alone. */
export function useShortcuts(): void {
  useEffect(() => {
    let typed: string[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.repeat) return
      const key = event.key.toLowerCase()
      const hasModifier = event.metaKey || event.ctrlKey
      if (!hasModifier && isTyping(event.target)) return
      const pressed = hasModifier ? `mod+${key}` : key
      typed = hasModifier ? [pressed] : [...typed, pressed].slice(-2)
      clearTimeout(timer)
      timer = setTimeout(() => {
        typed = []
      }, SEQUENCE_MS)
      const found = [typed.join(' '), pressed]
        .map((keys) => currentCommands().find(({ shortcut }) => shortcut === keys))
        .find((command) => command !== undefined)
      if (!found) return
      event.preventDefault()
      typed = []
      found.run()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('keydown', onKeyDown)
    }
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.closest('[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]')) return true
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}
