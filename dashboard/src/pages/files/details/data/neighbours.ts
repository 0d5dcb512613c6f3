import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { useClient } from '../../../../api/session.ts'
import { keysIn } from './file.ts'

/** The files before and after a file. */
export interface Neighbours {
  previous?: string
  next?: string
}

/** The neighbours of a file in the list that is shown. None when it is in no list, for example after a reload. */
export function useNeighbours(key: string): Neighbours {
  const queryClient = useQueryClient()
  const { client } = useClient()
  const subscribe = useCallback(
    (listener: () => void) => queryClient.getQueryCache().subscribe(listener),
    [queryClient],
  )
  // A text: it stays the same as long as the neighbours do.
  const found = useSyncExternalStore(subscribe, () => {
    const queries = queryClient.getQueryCache().findAll({ queryKey: [client.id], type: 'active' })
    for (const { state } of queries) {
      const keys = keysIn(state.data)
      const at = keys.indexOf(key)
      if (at !== -1) return `${keys[at - 1] ?? ''}\n${keys[at + 1] ?? ''}`
    }
    return '\n'
  })
  const [previous, next] = found.split('\n')
  return { ...(previous && { previous }), ...(next && { next }) }
}
