import { useQuery } from '@tanstack/react-query'
import { CornerLeftUp } from 'lucide-react'
import { useState } from 'react'
import { FOLDER_MAX_BYTES } from '../../../../../client/generated/limits.ts'
import type { ListedFile } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { COMMON } from '../../../texts/common.ts'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { Select } from '../../../ui/forms/select.tsx'
import { FormDialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { folderOf, joined, parentOf } from '../list/items.ts'
import { FolderGlyph } from '../list/thumbnail.tsx'
import { FILE_ACTIONS } from '../texts.ts'
import type { DialogProps } from './delete-dialog.tsx'
import { filesOf, sizeOf } from './files-of.ts'
import { reportFailures, useRefresh } from './outcome.ts'

const REDIRECTS = Object.entries(FILE_ACTIONS.redirects).map(([value, label]) => ({ value, label }))

/** Chooses a folder, and moves or copies files into it. */
export function MoveDialog({
  items,
  onClose,
  onDone,
  onShow,
  from,
  isCopy,
  firstRedirect = 'none',
}: DialogProps & {
  /** Shows a file: a moved one at once, a copy from its message. Undefined: the message of a move can undo it. */
  onShow?: (key: string) => void
  from: string
  isCopy: boolean
  /** How long the former URLs are redirected, until the person chooses. */
  firstRedirect?: keyof typeof FILE_ACTIONS.redirects
}) {
  const { sluice } = useClient()
  const refresh = useRefresh()
  const [path, setPath] = useState(from)
  const [redirect, setRedirect] = useState<string>(firstRedirect)
  const files = COMMON.files(sizeOf(items).files)
  const to = path.trim().replace(/^\/+|\/+$/g, '')

  async function send(): Promise<void> {
    const problem = problemOf()
    if (problem !== undefined) throw new Error(problem)
    const selected = await filesOf(sluice, items)
    const place = to === '' ? FILE_ACTIONS.topLevel : to
    if (isCopy) {
      const results = await sluice.files.copy(
        selected.map(({ file, below }) => ({ file, to: joined(to, below) })),
      )
      reportFailures(results)
      const copies = results.flatMap((one) => (one.status === 'copied' ? [one.file] : []))
      const [copy] = copies
      if (copy)
        toast.success(
          FILE_ACTIONS.copied(COMMON.files(copies.length), place),
          onShow ? { action: { label: FILE_ACTIONS.show, onSelect: () => onShow(copy.s3PathOriginal) } } : {},
        )
      return onDone()
    }
    const results = await sluice.files.move(
      selected.map(({ file, below }) => ({
        file,
        to: withId(joined(to, below), file),
        ...(redirect !== 'none' && { redirect }),
      })),
    )
    reportFailures(results)
    const moved = results.flatMap((one) => (one.status === 'moved' ? [one] : []))
    const undo = async () => {
      reportFailures(
        await sluice.files.move(
          moved.map(({ file, path }) => ({ file: file.s3PathOriginal, to: withId(folderOf(path), file) })),
        ),
      )
      await refresh()
    }
    const [first] = moved
    if (first) {
      toast.success(FILE_ACTIONS.moved(COMMON.files(moved.length), place), onShow ? {} : { undo })
      onShow?.(first.file.s3PathOriginal)
    }
    onDone()
  }

  function problemOf(): string | undefined {
    const isInside = items.some(
      (item) => item.kind === 'folder' && `${to}/`.startsWith(`${item.folder.path}/`),
    )
    if (isInside) return FILE_ACTIONS.insideItself
    const isHere = items.every(
      (item) => (item.kind === 'file' ? folderOf(item.id) : parentOf(item.folder.path)) === to,
    )
    return isHere && !isCopy ? FILE_ACTIONS.sameFolder : undefined
  }

  return (
    <FormDialog
      onClose={onClose}
      title={isCopy ? FILE_ACTIONS.copyTitle(files) : FILE_ACTIONS.moveTitle(files)}
      description={isCopy ? undefined : FILE_ACTIONS.moveText}
      action={isCopy ? FILE_ACTIONS.copy : FILE_ACTIONS.move}
      onSubmit={send}
      fieldOf={() => 'folder'}
    >
      {(errorAt) => (
        <>
          <Field
            label={FILE_ACTIONS.destination}
            hint={FILE_ACTIONS.destinationHint}
            error={errorAt('folder')}
          >
            <Input
              value={path}
              maxLength={FOLDER_MAX_BYTES}
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => setPath(event.target.value)}
            />
          </Field>
          <FolderChoice path={to} onChoose={setPath} />
          {!isCopy && (
            <Field label={FILE_ACTIONS.redirect} hint={FILE_ACTIONS.redirectHint}>
              <Select value={redirect} onChange={setRedirect} options={REDIRECTS} />
            </Field>
          )}
        </>
      )}
    </FormDialog>
  )
}

/** A path with which a moved file retains its id, so that a move back restores its URL. */
function withId(folder: string, { sourceName }: Pick<ListedFile, 'sourceName'>): string {
  return joined(folder, sourceName)
}

/** The folders below a folder, to step into, and a step up. */
function FolderChoice({ path, onChoose }: { path: string; onChoose: (path: string) => void }) {
  const { client, sluice } = useClient()
  const { data: folders } = useQuery({
    queryKey: [client.id, 'files', 'folder-choice', path],
    queryFn: async ({ signal }) => {
      const names: string[] = []
      for await (const { path: one } of sluice.folders.list({
        ...(path && { prefix: path }),
        limit: 1000,
        signal,
      })) {
        names.push(one)
        if (names.length === 1000) break
      }
      return names
    },
    placeholderData: (last) => last,
  })
  const row = 'flex h-8 w-full items-center gap-2 rounded-md px-2 text-left text-sm hover:bg-hover'
  return (
    <section
      aria-label={FILE_ACTIONS.folders}
      className="h-44 overflow-y-auto rounded-md border border-line bg-surface p-1"
    >
      {path !== '' && (
        <button type="button" className={row} onClick={() => onChoose(parentOf(path))}>
          <CornerLeftUp aria-hidden="true" className="size-4 text-muted" />
          {FILE_ACTIONS.upTo(parentOf(path).split('/').at(-1) || FILE_ACTIONS.topLevel)}
        </button>
      )}
      {folders?.map((one) => (
        <button key={one} type="button" className={row} onClick={() => onChoose(one)}>
          <FolderGlyph className="size-4 shrink-0 fill-accent-soft" />
          <span className="truncate">{one.split('/').at(-1)}</span>
        </button>
      ))}
      {folders?.length === 0 && <p className="px-2 py-1.5 text-muted text-sm">{FILE_ACTIONS.noFolders}</p>}
    </section>
  )
}
