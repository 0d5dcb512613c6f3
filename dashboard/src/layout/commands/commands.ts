import { type ReactNode, useEffect, useSyncExternalStore } from 'react'

/** Something that the command palette offers, or a shortcut does. */
export interface Command {
  id: string
  title: string
  /** A heading of the palette and of the list of shortcuts. */
  group: string
  icon?: ReactNode
  /** Further words that find it. */
  keywords?: string[]
  /** Keys one after the other, as `g f`, or with a modifier, as `mod+k`. `mod` is ⌘ on a Mac, otherwise Ctrl. */
  shortcut?: string
  run: () => void
}

let sources: ReadonlyArray<readonly Command[]> = []
let all: readonly Command[] = []
const listeners = new Set<() => void>()

function change(next: ReadonlyArray<readonly Command[]>): void {
  sources = next
  // The commands of the page come before those of the layout, which was there first.
  all = [...next].reverse().flat()
  for (const listener of listeners) listener()
}

/**
 * Offers commands as long as the component is shown. Create the list with `useMemo`, so that it changes only when the
 * commands do.
 */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    change([...sources, commands])
    return () => change(sources.filter((other) => other !== commands))
  }, [commands])
}

/** All commands that are offered now. */
export function currentCommands(): readonly Command[] {
  return all
}

/** All commands, for components that show them. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, currentCommands)
}
