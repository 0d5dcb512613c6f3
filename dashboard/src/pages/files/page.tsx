import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { FolderOpen, FolderPlus, SearchX, Upload } from 'lucide-react'
import { lazy, Suspense, useMemo, useRef, useState } from 'react'
import { useClient, useMay } from '../../api/session.ts'
import { useCommands } from '../../layout/commands/commands.ts'
import { requestUpload } from '../../layout/uploads.ts'
import { Button } from '../../ui/button.tsx'
import { ContextMenu } from '../../ui/overlays/menu.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Page } from '../../ui/page.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import { FolderDialog } from './actions/folder-dialog.tsx'
import { SelectionBar } from './actions/selection-bar.tsx'
import { useActions } from './actions/use-actions.tsx'
import { Breadcrumbs } from './breadcrumbs.tsx'
import { Browser } from './list/browser.tsx'
import { type Item, joined } from './list/items.ts'
import { useSelection } from './list/selection.ts'
import { ListSkeleton } from './list/skeleton.tsx'
import { neighboursOf } from './list/sparse.ts'
import { useList } from './list/use-list.ts'
import { type FilesSearch, isFiltered, readFilesSearch, without } from './search.ts'
import { FILE_ACTIONS, FILES } from './texts.ts'
import { Toolbar } from './toolbar/toolbar.tsx'
import { useView } from './view.ts'

// Files whose tags are suggested.
const TAGGED = 1000

const Details = lazy(async () => ({ default: (await import('./details/details.tsx')).Details }))

/** The folders and files of a client. */
export function FilesPage() {
  const { _splat = '' } = useParams({ strict: false })
  const folder = _splat.replace(/^\/+|\/+$/g, '')
  // Another folder is another list: no selection remains.
  return <FolderPage key={folder} folder={folder} />
}

function FolderPage({ folder }: { folder: string }) {
  const { client } = useClient()
  const mayUpload = useMay('editor')
  const search = readFilesSearch(useSearch({ strict: false }))
  const navigate = useNavigate()
  const [view, setView] = useView()
  const list = useList(folder, search)
  const selection = useSelection(list.items, () => toast.failure(FILES.rangeGap))
  const searchField = useRef<HTMLInputElement>(null)
  const go = (to: { folder?: string; search: FilesSearch; replace?: boolean }) =>
    void navigate({
      to: '/c/$clientId/files/$',
      params: { clientId: client.id, _splat: to.folder ?? folder },
      search: to.search,
      replace: to.replace ?? false,
      resetScroll: to.folder !== undefined,
    })
  const change = (next: FilesSearch) => {
    selection.clear()
    go({ search: next, replace: true })
  }
  const open = (item: Item) =>
    item.kind === 'folder'
      ? go({ folder: item.folder.path, search: {} })
      : go({ search: { ...search, file: item.id } })
  const upload = () => requestUpload({ clientId: client.id, folder })
  const { items } = list
  const actions = useActions({ all: items, selection, folder, onOpen: open })
  const [isNaming, setNaming] = useState(false)
  const tags = useMemo(
    () =>
      [
        ...new Set(
          items.first.slice(0, TAGGED).flatMap((item) => (item.kind === 'file' ? item.file.tags : [])),
        ),
      ]
        .sort()
        .slice(0, 100),
    [items],
  )
  const neighbours = useMemo(() => neighboursOf(items, search.file ?? ''), [items, search.file])
  useCommands(
    useMemo(
      () => [
        {
          id: 'search-files',
          title: FILES.focusSearch,
          group: FILES.group,
          shortcut: '/',
          run: () => searchField.current?.focus(),
        },
        {
          id: 'view',
          title: FILES.toggleView,
          group: FILES.group,
          shortcut: 'v',
          run: () => setView(view === 'grid' ? 'table' : 'grid'),
        },
      ],
      [view, setView],
    ),
  )
  return (
    <Page
      title={folder === '' ? FILES.title : (folder.split('/').at(-1) ?? '')}
      heading={<Breadcrumbs folder={folder} />}
      isWide
      actions={
        mayUpload && (
          <>
            <Button
              icon={<FolderPlus aria-hidden="true" className="size-4" />}
              onClick={() => setNaming(true)}
            >
              {FILE_ACTIONS.newFolder}
            </Button>
            <Button icon={<Upload aria-hidden="true" className="size-4" />} onClick={upload}>
              {FILES.upload}
            </Button>
          </>
        )
      }
    >
      <Toolbar
        search={search}
        onChange={change}
        view={view}
        onView={setView}
        searchField={searchField}
        tags={tags}
      />
      {list.isFirstFailed ? (
        <ErrorState error={list.error} onRetry={list.retry} />
      ) : list.isPending ? (
        <ListSkeleton view={view} />
      ) : items.count === 0 && !list.hasMore ? (
        <Empty
          folder={folder}
          isFiltered={isFiltered(search)}
          onUpload={mayUpload ? upload : undefined}
          onClear={() => change(without(search, 'q', 'type', 'tag', 'from', 'to'))}
        />
      ) : (
        <ContextMenu groups={actions.menu}>
          <div>
            <Browser
              list={list}
              view={view}
              selection={selection}
              sort={search.sort ?? '-uploaded'}
              onSort={(sort) => change(readFilesSearch({ ...search, sort }))}
              onOpen={open}
              onDelete={actions.run.delete}
            />
          </div>
        </ContextMenu>
      )}
      <SelectionBar actions={actions} selection={selection} list={list} />
      {actions.dialog}
      {isNaming && (
        <FolderDialog
          onClose={() => setNaming(false)}
          onCreate={(name) => go({ folder: joined(folder, name), search: {} })}
        />
      )}
      {search.file !== undefined && (
        <Suspense>
          <Details
            fileKey={search.file}
            neighbours={neighbours}
            onClose={() => go({ search: without(search, 'file') })}
          />
        </Suspense>
      )}
    </Page>
  )
}

function Empty({
  folder,
  isFiltered,
  onUpload,
  onClear,
}: {
  folder: string
  isFiltered: boolean
  onUpload: (() => void) | undefined
  onClear: () => void
}) {
  if (isFiltered)
    return (
      <EmptyState
        icon={<SearchX />}
        title={FILES.noMatchTitle}
        actions={<Button onClick={onClear}>{FILES.clearFilters}</Button>}
      >
        {FILES.noMatchText}
      </EmptyState>
    )
  return (
    <EmptyState
      icon={<FolderOpen />}
      title={folder === '' ? FILES.emptyRootTitle : FILES.emptyTitle}
      className="min-h-[50vh] rounded-xl border-2 border-line border-dashed"
      actions={
        onUpload && (
          <Button look="primary" icon={<Upload aria-hidden="true" className="size-4" />} onClick={onUpload}>
            {FILES.chooseFiles}
          </Button>
        )
      }
    >
      {onUpload ? FILES.emptyText : FILES.emptyViewer}
    </EmptyState>
  )
}
