import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query'

// Enough for several windows.
const PAGES = 3

/** The key of all lists of files and folders of a client. */
export const listsOf = (clientId: string): QueryKey => [clientId, 'files']

/**
 * Loads the lists of files and folders of a client again, those that are not shown when they are shown the next time. What belongs to
 * a single file is not requested: another signature would restart a video.
 */
export function refreshLists(queryClient: QueryClient, clientId: string): Promise<void> {
  trimLists(queryClient, listsOf(clientId))
  return queryClient.invalidateQueries({ queryKey: listsOf(clientId) })
}

/** Loads the records of files again, without what belongs to a single file in addition, for example signed URLs. */
export function refreshRecords(queryClient: QueryClient, clientId: string): Promise<void> {
  return queryClient.invalidateQueries({
    queryKey: [clientId, 'file'],
    predicate: ({ queryKey }) => queryKey.length === 3,
  })
}

/**
 * Removes all pages of lists but the first ones. A list that is loaded again loads as many pages as it had, one after the other:
 * 100 for 100,000 files.
 */
export function trimLists(queryClient: QueryClient, queryKey: QueryKey): void {
  for (const [key, data] of queryClient.getQueriesData<Partial<InfiniteData<unknown>>>({ queryKey })) {
    const { pages, pageParams } = data ?? {}
    if (pages && pageParams && pages.length > PAGES)
      queryClient.setQueryData(key, { pages: pages.slice(0, PAGES), pageParams: pageParams.slice(0, PAGES) })
  }
}
