import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { FileList, Folder, ListOptions } from '../../../../../client/index.ts'
import { trimLists } from '../../../api/lists.ts'
import { useClient } from '../../../api/session.ts'
import { type FilesSearch, filtersOf, isFiltered, type Sort } from '../search.ts'
import { folderItem, type Item } from './items.ts'
import { distinct, type Items, pageItems, sparse } from './sparse.ts'

// The first page is small, so that it is there soon. 100,000 files take 100 further requests.
const FIRST_PAGE = 100
const PAGE = 1000
const FOLDERS_MAX = 5000
// Items around the visible ones that are loaded before they are visible.
const AHEAD = 300

/** The folders and files of one view, as far as they have been loaded. */
export interface List {
  items: Items
  isPending: boolean
  /** Loads what these indexes need, unless a page is loading already: from the beginning or from the end, whichever is nearer. */
  show: (from: number, to: number) => void
  /** Loads all that is missing. Undefined: a page could not be loaded. */
  loadAll: () => Promise<readonly Item[] | undefined>
  /** Whether something is not loaded. */
  hasMore: boolean
  isLoadingMore: boolean
  error: Error | null
  isFirstFailed: boolean
  retry: () => void
}

export function useList(folder: string, search: FilesSearch): List {
  const { client, sluice } = useClient()
  const queryClient = useQueryClient()
  const isAll = isFiltered(search)
  const sort = search.sort ?? '-uploaded'
  const { q, ...filters } = filtersOf(search)
  const query = {
    ...(folder !== '' && { prefix: folder }),
    ...(isAll ? { ...filters, search: q } : { direct: true, count: true }),
    // Undefined members are left out of the URL.
  } as ListOptions
  const listIn = (order: Sort) => ({
    queryKey: [client.id, 'files', folder, { ...query, sort: order }],
    queryFn: ({ pageParam, signal }: { pageParam: string | undefined; signal: AbortSignal }) =>
      sluice.files.page({
        ...query,
        sort: order,
        limit: pageParam === undefined ? FIRST_PAGE : PAGE,
        cursor: pageParam,
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }: FileList) => cursor ?? undefined,
    // A comparison of all pages after each new one would take most of the time. A return to the window would load all again.
    structuralSharing: false,
    refetchOnWindowFocus: false,
  })
  const files = useInfiniteQuery(listIn(sort))
  // The list in the opposite order begins with the end of this one.
  const [isEndWanted, setEndWanted] = useState(false)
  const end = useInfiniteQuery({ ...listIn(opposite(sort)), enabled: isEndWanted && !isAll })
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
  const endPages = isEndWanted && !isAll ? end.data?.pages : undefined
  const hasNext = files.hasNextPage
  const items = useMemo(() => {
    const above = sortedFolders(shownFolders ?? [], sort).map(folderItem)
    const first = distinct([...above, ...(pages ?? []).flatMap(pageItems)])
    if (!hasNext) return sparse(first, [], first.length)
    const last = distinct((endPages ?? []).flatMap(pageItems)).toReversed()
    const total = pages?.[0]?.total
    // Files may have been added since then.
    const count = total === undefined ? first.length : Math.max(above.length + total, first.length)
    return sparse(first, last, count)
  }, [shownFolders, pages, endPages, hasNext, sort])
  const hasMore = hasNext && (isAll || items.count > items.first.length)
  const isFetching = files.isFetching || end.isFetching
  const show = (from: number, to: number) => {
    const gap = { from: items.first.length, to: items.count - items.last.length }
    if (!hasMore || isFetching || to + AHEAD < gap.from || (!isAll && from - AHEAD >= gap.to)) return
    const isNearEnd = !isAll && gap.to - from < to - gap.from
    if (!isNearEnd) void files.fetchNextPage()
    else if (!isEndWanted) setEndWanted(true)
    else if (end.hasNextPage) void end.fetchNextPage()
    else void files.fetchNextPage()
  }
  const loadAll = async () => {
    for (;;) {
      const { isError, hasNextPage, data } = await files.fetchNextPage()
      if (isError || !data) return undefined
      if (hasNextPage) continue
      const above = sortedFolders(shownFolders ?? [], sort).map(folderItem)
      return distinct([...above, ...data.pages.flatMap(pageItems)])
    }
  }
  useEffect(
    () => () => trimLists(queryClient, [client.id, 'files', folder]),
    [queryClient, client.id, folder],
  )
  const error = files.error ?? end.error ?? (isAll ? null : folders.error)
  return {
    items,
    isPending: files.isPending || (!isAll && folders.isPending),
    show,
    loadAll,
    hasMore,
    isLoadingMore: files.isFetchingNextPage || (isEndWanted && end.isFetching),
    error,
    isFirstFailed: error !== null && (!files.data || (!isAll && !folders.data)),
    retry: () => {
      if (folders.isError) void folders.refetch()
      if (end.isError) void (end.data ? end.fetchNextPage() : end.refetch())
      if (files.isFetchNextPageError) void files.fetchNextPage()
      else if (files.isError) void files.refetch()
    },
  }
}

function opposite(sort: Sort): Sort {
  return (sort.startsWith('-') ? sort.slice(1) : `-${sort}`) as Sort
}

function sortedFolders(folders: readonly Folder[], sort: string): readonly Folder[] {
  if (sort === '-name') return [...folders].reverse()
  if (sort === 'size') return [...folders].sort((a, b) => a.bytes - b.bytes)
  return sort === '-size' ? [...folders].sort((a, b) => b.bytes - a.bytes) : folders
}
