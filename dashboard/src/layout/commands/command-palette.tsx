import * as Dialog from '@radix-ui/react-dialog'
import { Command } from 'cmdk'
import { Search } from 'lucide-react'
import { Keys } from '../../ui/badge.tsx'
import { LAYOUT } from '../texts.ts'
import { useAllCommands } from './commands.ts'
import { keysOf } from './shortcuts.ts'

/** Finds a command by a part of its name, and runs it. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const commands = useAllCommands().filter(({ id }) => id !== 'palette')
  const groups = [...new Set(commands.map(({ group }) => group))]
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 animate-appear bg-overlay" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 animate-appear overflow-hidden rounded-xl border border-line bg-raised shadow-floating focus:outline-none"
        >
          <Dialog.Title className="sr-only">{LAYOUT.search}</Dialog.Title>
          <Command label={LAYOUT.search} loop>
            <div className="flex items-center gap-3 border-line border-b px-4">
              <Search aria-hidden="true" className="size-4 text-muted" />
              <Command.Input
                autoFocus
                placeholder={LAYOUT.search}
                className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none"
              />
            </div>
            <Command.List
              label={LAYOUT.actions}
              className="max-h-[min(24rem,60vh)] scroll-py-2 overflow-y-auto p-2"
            >
              <Command.Empty className="py-8 text-center text-muted">{LAYOUT.noCommands}</Command.Empty>
              {groups.map((group) => (
                <Command.Group
                  key={group}
                  heading={group}
                  className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-faint [&_[cmdk-group-heading]]:text-xs"
                >
                  {commands
                    .filter((command) => command.group === group)
                    .map(({ id, title, icon, shortcut, keywords, run }) => (
                      <Command.Item
                        key={id}
                        value={id}
                        keywords={[title, ...(keywords ?? [])]}
                        onSelect={() => {
                          onClose()
                          run()
                        }}
                        className="flex h-9 items-center gap-3 rounded-md px-2 text-sm data-[selected=true]:bg-hover [&>svg]:size-4 [&>svg]:text-muted"
                      >
                        {icon ?? <span aria-hidden="true" className="size-4" />}
                        <span className="min-w-0 flex-1 truncate">{title}</span>
                        {shortcut && <Keys keys={keysOf(shortcut)} />}
                      </Command.Item>
                    ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
