import { queryOptions } from '@tanstack/react-query'
import type { SluiceClient } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'

/** The parameters of all plugins. They change only when the service starts again. */
export const parametersQuery = queryOptions({
  queryKey: ['parameters'],
  queryFn: ({ signal }) => installation.parameters({ signal }),
  staleTime: 5 * 60_000,
})

/** The presets that a client may use. */
export function presetsQuery(clientId: string, library: SluiceClient) {
  return queryOptions({
    queryKey: [clientId, 'presets'],
    queryFn: ({ signal }) => library.presets.list({ signal }),
  })
}
