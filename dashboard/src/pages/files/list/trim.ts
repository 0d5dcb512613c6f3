import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query'

// Enough for several windows.
const PAGES = 3

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
