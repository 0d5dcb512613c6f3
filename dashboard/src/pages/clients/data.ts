import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { installation } from '../../api/clients.ts'

/** Whether this is the client that an installation is created with. It cannot be deleted or get another bucket. */
export function isFirst(id: string): boolean {
  return id === 'first'
}

/** All clients of the installation. */
export const clientsQuery = queryOptions({
  queryKey: ['clients'],
  queryFn: ({ signal }) => installation.clients.list({ signal }),
})

/** One client, as owners see it. */
export function clientQuery(id: string) {
  return queryOptions({
    queryKey: ['clients', id],
    queryFn: ({ signal }) => installation.clients.get(id, { signal }),
  })
}

/** Loads the clients again after a change: here, and in the switcher of the sidebar. */
export function useReloadClients(): () => Promise<void> {
  const queryClient = useQueryClient()
  return async () => {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['clients'] }),
      queryClient.invalidateQueries({ queryKey: ['session'] }),
    ])
  }
}
