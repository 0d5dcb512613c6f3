import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { FileList, Folder } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { type FilesSearch, filtersOf, isFiltered } from '../search.ts'
import { fileItem, folderItem, type Item } from './items.ts'

// The first page is small, so that it is there soon. 100,000 files take 200 further requests.
const FIRST_PAGE = 100
const PAGE = 500
const FOLDERS_MAX = 5000

/** The folders and files of one view, as far as they have been loaded. */
export interface List {
  items: readonly Item[]
  folders: readonly Folder[]
  isPending: boolean
  /** Loads the next page, unless it is loading already. */
  loadMore: () => void
  hasMore: boolean
  isLoadingMore: boolean
  error: Error | null
  isFirstFailed: boolean
  retry: () => void
}

export function useList(folder: string, search: FilesSearch): List {
  const { client, sluice } = useClient()
  const isAll = isFiltered(search)
  const { q, ...filters } = filtersOf(search)
  const sort = search.sort ?? '-uploaded'
  const query = {
    ...(folder !== '' && { prefix: folder }),
    ...(isAll ? { ...filters, search: q } : { direct: true }),
    sort,
  }
  const files = useInfiniteQuery({
    queryKey: [client.id, 'files', folder, query],
    queryFn: ({ pageParam, signal }): Promise<FileList> =>
      sluice.files.page({
        // Undefined members are left out of the URL.
        ...(query as object),
        limit: pageParam === undefined ? FIRST_PAGE : PAGE,
        cursor: pageParam,
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor ?? undefined,
  })
  const folders = useQuery({
    queryKey: [client.id, 'files', 'folders', folder],
    queryFn: async ({ signal }) => {
      const found: Folder[] = []
      const prefix = folder === '' ? {} : { prefix: folder }
      for await (const one of sluice.folders.list({ ...prefix, limit: 1000, signal })) {
        found.push(one)
        if (found.length === FOLDERS_MAX) break
      }
      return found
    },
    enabled: !isAll,
  })
  const shownFolders = isAll ? undefined : folders.data
  const pages = files.data?.pages
  const items = useMemo(
    () => [
      ...sortedFolders(shownFolders ?? [], sort).map(folderItem),
      // A file that moved between two pages is in both.
      ...new Map(
        pages?.flatMap((page) => page.files.map((file) => [file.s3PathOriginal, fileItem(file)])),
      ).values(),
    ],
    [shownFolders, pages, sort],
  )
  const error = files.error ?? (isAll ? null : folders.error)
  return {
    items,
    folders: shownFolders ?? [],
    isPending: files.isPending || (!isAll && folders.isPending),
    loadMore: () => {
      if (files.hasNextPage && !files.isFetching) void files.fetchNextPage()
    },
    hasMore: files.hasNextPage,
    isLoadingMore: files.isFetchingNextPage,
    error,
    isFirstFailed: error !== null && (!files.data || (!isAll && !folders.data)),
    retry: () => {
      if (folders.isError) void folders.refetch()
      if (files.isFetchNextPageError) void files.fetchNextPage()
      else if (files.isError) void files.refetch()
    },
  }
}

function sortedFolders(folders: readonly Folder[], sort: string): readonly Folder[] {
  if (sort === '-name') return [...folders].reverse()
  if (sort === 'size') return [...folders].sort((a, b) => a.bytes - b.bytes)
  return sort === '-size' ? [...folders].sort((a, b) => b.bytes - a.bytes) : folders
}
