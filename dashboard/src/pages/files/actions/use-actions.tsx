import { FileArchive, FolderInput, FolderOutput, Link, PanelRight, Tag, Trash2 } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { useMay } from '../../../api/session.ts'
import { copyText } from '../../../ui/copy-button.tsx'
import type { MenuGroups, MenuItem } from '../../../ui/overlays/menu.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import type { Item } from '../list/items.ts'
import type { Selection } from '../list/selection.ts'
import type { Items } from '../list/sparse.ts'
import { FILE_ACTIONS } from '../texts.ts'
import type { Action } from './dialogs.tsx'
import { useRefresh } from './outcome.ts'

const ActionDialog = lazy(async () => ({ default: (await import('./dialogs.tsx')).ActionDialog }))

/** What can be done with the selection. */
export interface Actions {
  items: readonly Item[]
  /** Undefined: the member may not do it. */
  run: Partial<Record<Action | 'copyUrls', () => void>>
  /** The same for a menu. */
  menu: MenuGroups
  /** The open dialog. */
  dialog: ReactNode
}

export function useActions({
  all,
  selection,
  folder,
  onOpen,
}: {
  all: Items
  selection: Selection
  folder: string
  onOpen: (item: Item) => void
}): Actions {
  const mayChange = useMay('editor')
  const refresh = useRefresh()
  const [opened, setOpened] = useState<Action>()
  const { ids } = selection
  // A page has 100,000 items at times, and renders more often than the selection changes.
  const items = useMemo(
    () => (ids.size === 0 ? [] : [...all.first, ...all.last].filter(({ id }) => ids.has(id))),
    [all, ids],
  )
  const urls = useMemo(() => items.flatMap((item) => (item.kind === 'file' ? [item.file.src] : [])), [items])
  const copyUrls = () =>
    void copyText(urls.join('\n')).then(
      () => toast.success(FILE_ACTIONS.urlsCopied(urls.length)),
      toast.failure,
    )
  const open = (action: Action) => () => setOpened(action)
  const run: Actions['run'] = {
    zip: open('zip'),
    ...(urls.length > 0 && { copyUrls }),
    ...(mayChange && {
      move: open('move'),
      copy: open('copy'),
      tags: open('tags'),
      delete: open('delete'),
    }),
  }
  const [only] = items.length === 1 ? items : []
  const entry = (
    action: keyof typeof run,
    label: string,
    icon: ReactNode,
    more?: Partial<MenuItem>,
  ): MenuItem | undefined => {
    const onSelect = run[action]
    return onSelect && { label, icon, onSelect, ...more }
  }
  const menu: MenuGroups = [
    [
      only && {
        label: FILE_ACTIONS.open,
        icon: <PanelRight />,
        onSelect: () => onOpen(only),
        shortcut: ['↵'],
      },
    ],
    [
      entry('copyUrls', urls.length > 1 ? FILE_ACTIONS.copyUrls : FILE_ACTIONS.copyUrl, <Link />),
      entry('zip', FILE_ACTIONS.download, <FileArchive />),
    ],
    [
      entry('move', `${FILE_ACTIONS.move}…`, <FolderInput />),
      entry('copy', `${FILE_ACTIONS.copy}…`, <FolderOutput />),
      entry('tags', `${FILE_ACTIONS.editTags}…`, <Tag />),
    ],
    [entry('delete', `${FILE_ACTIONS.remove}…`, <Trash2 />, { isDanger: true, shortcut: ['Del'] })],
  ]
  return {
    items,
    run,
    menu,
    dialog: opened && items.length > 0 && (
      <Suspense>
        <ActionDialog
          action={opened}
          items={items}
          from={folder}
          onClose={() => setOpened(undefined)}
          onDone={() => {
            selection.clear()
            void refresh()
          }}
        />
      </Suspense>
    ),
  }
}

/** The icons of the bar of the selection. */
export const ACTION_ICONS = {
  zip: FileArchive,
  move: FolderInput,
  copyUrls: Link,
  tags: Tag,
  delete: Trash2,
}
