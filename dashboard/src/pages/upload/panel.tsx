import { clsx } from 'clsx'
import { useEffect, useRef, useState } from 'react'
import type { FolderFile } from '../../../../client/uploader/queue/item.ts'
import { nameOf, useSession } from '../../api/session.ts'
import { takeUploadRequest, useShownFolder, useUploadRequest } from '../../layout/uploads.ts'
import { UPLOAD } from '../../texts/upload.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { AddFiles } from './parts/add-files.tsx'
import { UploadList } from './parts/list.tsx'
import { PanelHeader } from './parts/panel-header.tsx'
import { failedFirst, summaryOf, titleOf } from './summary.ts'
import { useQueue, useRefreshedLists } from './use-queue.ts'

/** Where the next files go, while the member chooses them. */
interface Target {
  clientId: string
  folder: string
}

/** Chooses and sends files. It remains in the page after it was opened once, on all pages. */
export function UploadPanel() {
  const { clients } = useSession()
  const { queue, items } = useQueue()
  useRefreshedLists(queue)
  const request = useUploadRequest()
  const shownFolder = useShownFolder()
  // The member chooses files as long as there is a target.
  const [target, setTarget] = useState<Target>()
  const [last, setLast] = useState<Target>()
  const [isMinimized, setMinimized] = useState(false)
  const [isStopping, setStopping] = useState(false)
  const panel = useRef<HTMLElement>(null)
  const summary = summaryOf(items)
  const isShown = items.length > 0 || target !== undefined

  // biome-ignore lint/correctness/useExhaustiveDependencies: a wish is received once, for the folder of that time
  useEffect(() => {
    if (!request) return
    takeUploadRequest()
    const { clientId, folder = shownFolder, files } = request
    setMinimized(false)
    setLast({ clientId, folder })
    if (files.length > 0) add({ clientId, folder }, files)
    else setTarget({ clientId, folder })
  }, [request])

  const isChoosing = target !== undefined
  useEffect(() => {
    if (isChoosing) panel.current?.focus()
  }, [isChoosing])

  function add(to: Target, files: ReadonlyArray<File | FolderFile | URL>): void {
    if (files.length === 0) return
    queue.add(
      files.map((one) => {
        if (one instanceof File || one instanceof URL) return { ...to, source: one }
        return { clientId: to.clientId, folder: joined(to.folder, one.folder), source: one.file }
      }),
    )
    setLast(to)
    setTarget(undefined)
  }
  const close = () => {
    if (summary.running + summary.paused + summary.interrupted > 0) return setStopping(true)
    setTarget(undefined)
    queue.removeAll()
  }
  const addMore = () => {
    const clientId = last?.clientId ?? items[0]?.clientId ?? clients[0]?.id
    if (clientId !== undefined) setTarget({ clientId, folder: last?.folder ?? shownFolder })
  }

  if (!isShown) return null
  const client = clients.find(({ id }) => id === target?.clientId)
  return (
    <section
      ref={panel}
      tabIndex={-1}
      aria-label={UPLOAD.title}
      onKeyDown={({ key, defaultPrevented }) => {
        if (key === 'Escape' && !defaultPrevented) items.length === 0 ? close() : setMinimized(true)
      }}
      className={clsx(
        'fixed inset-x-0 bottom-0 z-30 flex animate-rise flex-col overflow-hidden border border-line bg-raised shadow-floating focus:outline-none',
        'rounded-t-xl sm:right-4 sm:bottom-4 sm:left-auto sm:w-[28.5rem] sm:rounded-xl',
        !isMinimized && 'max-h-[min(36rem,80dvh)]',
      )}
    >
      <PanelHeader summary={summary} isMinimized={isMinimized} setMinimized={setMinimized} onClose={close} />
      {!isMinimized && target && client && (
        <AddFiles
          clientName={nameOf(client)}
          folder={target.folder}
          setFolder={(folder) => setTarget({ ...target, folder })}
          onFiles={(files) => add(cleaned(target), files)}
          onUrls={(urls) => add(cleaned(target), urls)}
        />
      )}
      {!isMinimized && items.length > 0 && <UploadList items={failedFirst(items)} queue={queue} />}
      {!isMinimized && items.length > 0 && (
        <footer className="flex flex-wrap items-center gap-2 border-line border-t bg-surface px-3 py-2">
          {!target && (
            <Button size="small" onClick={addMore}>
              {UPLOAD.addMore}
            </Button>
          )}
          <span className="flex-1" />
          {summary.retryable > 0 && (
            <Button size="small" onClick={() => queue.retry()}>
              {UPLOAD.retryAll(summary.retryable)}
            </Button>
          )}
          {summary.done > 0 && (
            <Button size="small" look="quiet" onClick={queue.clearDone}>
              {UPLOAD.clearDone}
            </Button>
          )}
          {summary.running > 0 ? (
            <Button size="small" onClick={() => queue.pause()}>
              {UPLOAD.pauseAll}
            </Button>
          ) : (
            summary.paused > 0 && (
              <Button size="small" look="primary" onClick={() => queue.resume()}>
                {UPLOAD.resumeAll}
              </Button>
            )
          )}
        </footer>
      )}
      <p role="status" className="sr-only">
        {summary.running === 0 && items.length > 0 ? titleOf(summary) : ''}
      </p>
      <ConfirmDialog
        isOpen={isStopping}
        onClose={() => setStopping(false)}
        title={UPLOAD.stopTitle(summary.running + summary.paused + summary.interrupted)}
        description={UPLOAD.stopText}
        action={UPLOAD.stop}
        onConfirm={async () => {
          setTarget(undefined)
          queue.removeAll()
        }}
      />
    </section>
  )
}

/** `/photos//2026/` is `photos/2026`. */
function joined(...folders: string[]): string {
  return folders
    .flatMap((folder) => folder.split('/'))
    .map((name) => name.trim())
    .filter(Boolean)
    .join('/')
}

function cleaned({ clientId, folder }: Target): Target {
  return { clientId, folder: joined(folder) }
}
