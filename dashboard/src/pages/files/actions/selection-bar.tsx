import { Ellipsis, X } from 'lucide-react'
import { FILE_ACTIONS } from '../../../texts/files.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatBytes, formatNumber } from '../../../ui/format.ts'
import { Menu } from '../../../ui/overlays/menu.tsx'
import type { Selection } from '../list/selection.ts'
import { sizeOf } from './files-of.ts'
import { ACTION_ICONS, type Actions } from './use-actions.tsx'

const LABELS = {
  copyUrls: FILE_ACTIONS.copyUrls,
  zip: FILE_ACTIONS.zip,
  move: FILE_ACTIONS.move,
  tags: FILE_ACTIONS.tag,
  delete: FILE_ACTIONS.remove,
}

/** What is selected, and what can be done with it. It stays at the bottom of the window. */
export function SelectionBar({ actions, selection }: { actions: Actions; selection: Selection }) {
  const { items, run, menu } = actions
  const count = formatNumber(items.length)
  return (
    <>
      {/* Read by screen readers when the number changes. */}
      <p role="status" className="sr-only">
        {items.length > 0 && FILE_ACTIONS.selected(count)}
      </p>
      {items.length > 0 && (
        <section
          aria-label={FILE_ACTIONS.bar}
          className="sticky bottom-4 z-20 mx-auto mt-4 flex w-fit max-w-full animate-rise items-center gap-1 rounded-xl border border-line bg-raised p-1.5 shadow-floating"
        >
          <IconButton label={FILE_ACTIONS.clear} shortcut={['Esc']} onClick={selection.clear}>
            <X aria-hidden="true" />
          </IconButton>
          <span className="mr-2 min-w-0 truncate text-sm tabular-nums">
            <strong className="font-semibold">{FILE_ACTIONS.selected(count)}</strong>
            <span className="text-muted max-md:hidden"> · {formatBytes(sizeOf(items).bytes)}</span>
          </span>
          {(['copyUrls', 'zip', 'move', 'tags', 'delete'] as const).map((name) => {
            const Icon = ACTION_ICONS[name]
            return (
              run[name] && (
                <Button
                  key={name}
                  look="quiet"
                  icon={<Icon aria-hidden="true" className="size-4" />}
                  onClick={run[name]}
                  className="max-lg:hidden"
                >
                  {LABELS[name]}
                </Button>
              )
            )
          })}
          <Menu
            align="end"
            side="top"
            trigger={
              <IconButton label={FILE_ACTIONS.more}>
                <Ellipsis aria-hidden="true" />
              </IconButton>
            }
            groups={menu}
          />
        </section>
      )}
    </>
  )
}
