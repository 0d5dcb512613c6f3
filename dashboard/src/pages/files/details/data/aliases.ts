import { queryOptions } from '@tanstack/react-query'
import type { ListedAlias } from '../../../../../../client/index.ts'
import type { ChosenClient } from '../../../../api/session.ts'

/** How many aliases are searched for those of a file: the service has no index by file. */
export const SEARCHED_MAX = 1000

/** The aliases of a client, up to {@link SEARCHED_MAX}. */
export function aliasesQuery({ client, sluice }: ChosenClient) {
  return queryOptions({
    queryKey: [client.id, 'file', 'aliases'],
    queryFn: async ({ signal }) => {
      const found: ListedAlias[] = []
      for await (const alias of sluice.aliases.list({ limit: SEARCHED_MAX, signal })) {
        found.push(alias)
        if (found.length === SEARCHED_MAX) break
      }
      return found
    },
  })
}
