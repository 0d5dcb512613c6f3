import { QueryClient } from '@tanstack/react-query'

/**
 * The cache of what was loaded. It never retries: the client library repeats calls itself, after 429 and 503 when
 * `Retry-After` permits it, and after a lost connection.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      staleTime: 15_000,
      gcTime: 10 * 60_000,
      // In a LAN without internet, browsers report that they are offline.
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
