import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { FileReport, ListedFile } from '../../../../client/index.ts'
import { refreshLists } from '../../api/lists.ts'
import { useClient, useMay } from '../../api/session.ts'
import { COMMON } from '../../texts/common.ts'
import { Button } from '../../ui/button.tsx'
import { ListCard } from '../../ui/list-card.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Page } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { TrashTable } from './table.tsx'
import { TRASH } from './texts.ts'

const PAGE = 200
// Files of one request that deletes permanently.
const REMOVED_AT_ONCE = 1000

/** The deleted files of a client that can be restored. */
export function TrashPage() {
  const { client, sluice } = useClient()
  const queryClient = useQueryClient()
  const mayChange = useMay('editor')
  const isOwner = useMay('owner')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [toRemove, setToRemove] = useState<readonly ListedFile[]>()
  const [isEmptying, setEmptying] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const list = useInfiniteQuery({
    queryKey: [client.id, 'files', 'trash'],
    queryFn: ({ pageParam, signal }) =>
      sluice.files.page({ deleted: true, limit: PAGE, cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor ?? undefined,
  })
  const files = list.data?.pages.flatMap((page) => page.files) ?? []
  const selected = files.filter(({ s3PathOriginal }) => chosen.has(s3PathOriginal))

  const finish = async (
    results: ReadonlyArray<{ status: string; detail?: string }>,
    text: (files: string) => string,
  ) => {
    const failed = results.filter(({ status }) => status === 'error')
    const done = results.length - failed.length
    if (failed.length > 0) toast.failure(COMMON.failed(failed.length, failed[0]?.detail ?? ''))
    if (done > 0) toast.success(text(COMMON.files(done)))
    setChosen(new Set())
    await refreshLists(queryClient, client.id)
  }
  const restore = async (some: readonly ListedFile[]) => {
    setBusy(true)
    try {
      await finish(await sluice.files.restore(some), TRASH.restored)
    } catch (error) {
      toast.failure(error)
    } finally {
      setBusy(false)
    }
  }
  const remove = async () =>
    finish(await sluice.files.deleteMany(toRemove ?? [], { permanently: true }), TRASH.removed)

  const empty = async () => {
    const results: FileReport[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await sluice.files.page({ deleted: true, sort: 'key', limit: REMOVED_AT_ONCE, cursor })
      if (page.files.length > 0)
        results.push(...(await sluice.files.deleteMany(page.files, { permanently: true })))
      if (page.cursor === null) break
      cursor = page.cursor
    }
    await finish(results, TRASH.removed)
  }

  return (
    <Page
      title={TRASH.title}
      description={TRASH.description}
      actions={
        mayChange &&
        files.length > 0 &&
        (selected.length === 0 ? (
          <Button icon={<Trash2 aria-hidden="true" className="size-4" />} onClick={() => setEmptying(true)}>
            {TRASH.empty}
          </Button>
        ) : (
          <>
            <Button
              icon={<RotateCcw aria-hidden="true" className="size-4" />}
              isBusy={isBusy}
              onClick={() => void restore(selected)}
            >
              {TRASH.restore}
            </Button>
            <Button
              look="danger"
              icon={<Trash2 aria-hidden="true" className="size-4" />}
              onClick={() => setToRemove(selected)}
            >
              {TRASH.remove}
            </Button>
          </>
        ))
      }
    >
      <ListCard
        query={list}
        rows={list.data && files}
        skeleton={{ rowHeight: 49 }}
        empty={
          <EmptyState
            icon={<Trash2 />}
            title={TRASH.emptyTitle}
            actions={
              isOwner && (
                <Button asChild>
                  <Link to="/clients/$id" params={{ id: client.id }}>
                    {TRASH.toRules}
                  </Link>
                </Button>
              )
            }
          >
            {TRASH.emptyText}
          </EmptyState>
        }
      >
        {() => (
          <TrashTable
            files={files}
            chosen={chosen}
            onChoose={setChosen}
            mayChange={mayChange}
            onRestore={(file) => void restore([file])}
            onRemove={(file) => setToRemove([file])}
          />
        )}
      </ListCard>
      {isEmptying && (
        <ConfirmDialog
          onClose={() => setEmptying(false)}
          title={TRASH.emptyQuestion}
          description={TRASH.removeText}
          action={TRASH.empty}
          onConfirm={empty}
        />
      )}
      {toRemove && (
        <ConfirmDialog
          onClose={() => setToRemove(undefined)}
          title={TRASH.removeTitle(
            toRemove.length === 1 ? nameOf(toRemove[0]) : COMMON.files(toRemove.length),
          )}
          description={TRASH.removeText}
          action={TRASH.remove}
          onConfirm={remove}
        />
      )}
    </Page>
  )
}

function nameOf(file: ListedFile | undefined): string {
  return file?.originalName || file?.sourceName || ''
}
