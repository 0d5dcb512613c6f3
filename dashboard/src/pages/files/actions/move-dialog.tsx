import { useQuery } from '@tanstack/react-query'
import { CornerLeftUp } from 'lucide-react'
import { useState } from 'react'
import type { ListedFile } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { Checkbox } from '../../../ui/forms/choices.tsx'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { folderOf, joined, parentOf } from '../list/items.ts'
import { FolderGlyph } from '../list/thumbnail.tsx'
import { FILE_ACTIONS } from '../texts.ts'
import type { DialogProps } from './delete-dialog.tsx'
import { filesOf, sizeOf } from './files-of.ts'
import { filesText, reportFailures, useRefresh } from './outcome.ts'

const REDIRECT = '30d'

/** Chooses a folder, and moves or copies the selection into it. A move can be undone. */
export function MoveDialog({
  items,
  onClose,
  onDone,
  from,
  isCopy,
}: DialogProps & { from: string; isCopy: boolean }) {
  const { sluice } = useClient()
  const refresh = useRefresh()
  const [path, setPath] = useState(from)
  const [hasRedirect, setRedirect] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const files = filesText(sizeOf(items).files)
  const to = path.trim().replace(/^\/+|\/+$/g, '')

  async function send(): Promise<void> {
    const selected = await filesOf(sluice, items)
    const place = to === '' ? FILE_ACTIONS.topLevel : to
    if (isCopy) {
      const results = await sluice.files.copy(
        selected.map(({ file, below }) => ({ file, to: joined(to, below) })),
      )
      reportFailures(results)
      const copied = results.filter(({ status }) => status === 'copied').length
      if (copied > 0) toast.success(FILE_ACTIONS.copied(filesText(copied), place))
      return
    }
    const redirect = hasRedirect ? { redirect: REDIRECT } : {}
    const results = await sluice.files.move(
      selected.map(({ file, below }) => ({ file, to: withId(joined(to, below), file), ...redirect })),
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
    if (moved.length > 0) toast.success(FILE_ACTIONS.moved(filesText(moved.length), place), { undo })
  }

  const submit = async () => {
    const problem = problemOf()
    setFailure(problem)
    if (problem) return
    setBusy(true)
    try {
      await send()
      onDone()
      onClose()
      await refresh()
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
      setBusy(false)
    }
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
      isBusy={isBusy}
      onSubmit={submit}
    >
      <Field label={FILE_ACTIONS.destination} hint={FILE_ACTIONS.destinationHint} error={failure}>
        <Input
          value={path}
          maxLength={200}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            setPath(event.target.value)
            setFailure(undefined)
          }}
        />
      </Field>
      <FolderChoice path={to} onChoose={setPath} />
      {!isCopy && <Checkbox checked={hasRedirect} onChange={setRedirect} label={FILE_ACTIONS.redirect} />}
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
