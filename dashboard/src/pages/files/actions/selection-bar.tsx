import { Ellipsis, X } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatBytes, formatNumber } from '../../../ui/format.ts'
import { Menu } from '../../../ui/overlays/menu.tsx'
import type { Selection } from '../list/selection.ts'
import type { List } from '../list/use-list.ts'
import { FILE_ACTIONS } from '../texts.ts'
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
export function SelectionBar({
  actions,
  selection,
  list,
}: {
  actions: Actions
  selection: Selection
  list: List
}) {
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
          <SelectAll selection={selection} list={list} />
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

/** Selects all items of the list, when all loaded ones are selected and others are not loaded yet. */
function SelectAll({ selection, list }: { selection: Selection; list: List }) {
  const [isBusy, setBusy] = useState(false)
  const { items, hasMore, loadAll } = list
  const isAllLoaded = selection.isAll || selection.ids.size >= items.first.length + items.last.length
  if (!hasMore || !isAllLoaded) return null
  const isCounted = items.count > items.first.length
  const selectAll = async () => {
    setBusy(true)
    const all = await loadAll()
    if (all) selection.choose(all)
    setBusy(false)
  }
  return (
    <Button look="quiet" isBusy={isBusy} onClick={() => void selectAll()}>
      {isCounted ? FILE_ACTIONS.selectAll(formatNumber(items.count)) : FILE_ACTIONS.selectAllFound}
    </Button>
  )
}
