import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { FileIcon, FileText, Film, ImageIcon, Music, SearchX, Upload } from 'lucide-react'
import { useDeferredValue, useId, useState } from 'react'
import type { ListedFile } from '../../../../../client/index.ts'
import { isDrawn } from '../../../api/pictured.ts'
import { useClient, useMay } from '../../../api/session.ts'
import { requestUpload } from '../../../layout/uploads.ts'
import { Button } from '../../../ui/button.tsx'
import { formatBytes } from '../../../ui/format.ts'
import { Input } from '../../../ui/forms/field.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { EmptyState, ErrorState } from '../../../ui/states.tsx'
import type { Group } from '../catalog.ts'
import { isTransformable } from '../catalog.ts'
import { shownUrls } from '../delivery.ts'
import { parametersQuery } from '../queries.ts'
import { PLAYGROUND } from '../texts.ts'

// Files without parameters are left out of them.
const LIMIT = 60
const PAGES_MAX = 5
const ICONS = { image: ImageIcon, video: Film, audio: Music, text: FileText, application: FileIcon }
const GRID = 'grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-3'

/** A choice of a file: the newest ones, and a search. `group`: only files of this type. */
export function FileChoice({ group, onChoose }: { group?: Group; onChoose: (file: ListedFile) => void }) {
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const { client, sluice } = useClient()
  const headingId = useId()
  const { data: lists } = useQuery(parametersQuery)
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: [client.id, 'files', 'choice', group ?? '', search],
    queryFn: async ({ signal }) => {
      const filters = { ...(group && { type: group }), ...(search && { search }) }
      const files: ListedFile[] = []
      // A page may be short where few files match. What is found after some pages suffices for a choice.
      let cursor: string | null | undefined
      for (let page = 0; page < PAGES_MAX && files.length < LIMIT && (page === 0 || cursor); page += 1) {
        const next = await sluice.files.page({ ...filters, limit: LIMIT, signal, ...(cursor && { cursor }) })
        files.push(...next.files)
        cursor = next.cursor
      }
      const pictured = files.filter((file) => file.mimeType === 'image' || isDrawn(file))
      return {
        files,
        thumbnails: await shownUrls(sluice, {
          files: pictured,
          query: 'w=320&h=240&fit=contain&f=auto',
          signal,
        }),
      }
    },
    placeholderData: keepPreviousData,
  })
  const files = data?.files.filter((file) => !lists || isTransformable(lists, file))
  return (
    <div className="flex flex-col gap-4">
      <Input
        type="search"
        value={text}
        onChange={({ target }) => setText(target.value)}
        aria-label={PLAYGROUND.searchFiles}
        placeholder={PLAYGROUND.searchFiles}
        className="max-w-md"
      />
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <section aria-labelledby={headingId} aria-busy={isPlaceholderData}>
          <h2 id={headingId} className="mb-2 font-medium text-muted text-sm">
            {search === '' ? PLAYGROUND.recent : PLAYGROUND.found(search)}
          </h2>
          {!files && (
            <div className={GRID}>
              {Array.from({ length: 8 }, (_, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
                <Skeleton key={i} className="h-40" />
              ))}
            </div>
          )}
          {files?.length === 0 && <NoFiles isSearch={search !== ''} />}
          <ul className={GRID}>
            {files?.map((file) => (
              <li key={file.s3PathOriginal}>
                <Tile file={file} thumbnail={data?.thumbnails.get(file)} onChoose={() => onChoose(file)} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Tile({
  file,
  thumbnail,
  onChoose,
}: {
  file: ListedFile
  thumbnail: string | undefined
  onChoose: () => void
}) {
  const [isBroken, setBroken] = useState(false)
  const Icon = ICONS[file.mimeType]
  return (
    <button
      type="button"
      onClick={onChoose}
      className="group flex w-full flex-col overflow-hidden rounded-lg border border-line bg-surface text-left shadow-raised transition-colors hover:border-line-strong"
    >
      <span className="flex h-28 w-full items-center justify-center bg-sunken">
        {thumbnail && !isBroken ? (
          <img
            src={thumbnail}
            alt=""
            loading="lazy"
            onError={() => setBroken(true)}
            className="size-full object-contain"
          />
        ) : (
          <Icon aria-hidden="true" className="size-8 text-faint" />
        )}
      </span>
      <span className="block w-full px-2.5 py-2">
        <span className="block truncate font-medium text-sm" title={file.originalName}>
          {file.originalName}
        </span>
        <span className="block truncate text-muted text-xs">{formatBytes(file.size)}</span>
      </span>
    </button>
  )
}

function NoFiles({ isSearch }: { isSearch: boolean }) {
  const { client } = useClient()
  const mayUpload = useMay('editor')
  return (
    <EmptyState
      icon={isSearch ? <SearchX /> : <ImageIcon />}
      title={isSearch ? PLAYGROUND.noMatchTitle : PLAYGROUND.noFilesTitle}
      actions={
        !isSearch &&
        mayUpload && (
          <Button
            look="primary"
            icon={<Upload aria-hidden="true" className="size-4" />}
            onClick={() => requestUpload({ clientId: client.id })}
          >
            {PLAYGROUND.upload}
          </Button>
        )
      }
    >
      {isSearch ? PLAYGROUND.noMatch : PLAYGROUND.noFiles}
    </EmptyState>
  )
}
