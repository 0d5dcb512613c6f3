import { Keys } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { LAYOUT } from '../texts.ts'
import { useAllCommands } from './commands.ts'
import { keysOf } from './shortcuts.ts'

/** All shortcuts of the current page. */
export function ShortcutsHelp({ onClose }: { onClose: () => void }) {
  const commands = useAllCommands().filter(({ shortcut }) => shortcut !== undefined)
  const groups = [...new Set(commands.map(({ group }) => group))]
  return (
    <Dialog isOpen onClose={onClose} size="large" title={LAYOUT.shortcuts} description={LAYOUT.shortcutsHelp}>
      <div className="gap-x-10 sm:columns-2">
        {groups.map((group) => (
          <section key={group} className="mb-4 break-inside-avoid">
            <h3 className="mb-1 font-medium text-faint text-xs">{group}</h3>
            <dl>
              {commands
                .filter((command) => command.group === group)
                .map(({ id, title, shortcut = '' }) => (
                  <div key={id} className="flex min-h-8 items-center justify-between gap-4">
                    <dt className="min-w-0">{title}</dt>
                    <dd>
                      <Keys keys={keysOf(shortcut)} />
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
