import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Role, Session, SessionClient, SluiceClient } from '../../../client/index.ts'
import { installation, libraryFor } from './clients.ts'

/** The session of this browser. Fails with a 401 when there is none. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => installation.sessions.get({ signal }),
  staleTime: 60_000,
})

/** The signed-in member, and the clients they may see. For pages within the layout, which exist only with a session. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

/** The client of the URL, and the client library that acts for it. Undefined on pages of the whole installation. */
export function useChosenClient(): SessionClient | undefined {
  const { clientId } = useParams({ strict: false })
  const { clients } = useSession()
  return clients.find(({ id }) => id === clientId)
}

/** The name of a client, or its id. */
export function nameOf({ id, name }: Pick<SessionClient, 'id' | 'name'>): string {
  return name ?? id
}

/** A client with its calls. Keys of queries begin with its id: `[client.id, 'files', …]`. */
export interface ChosenClient {
  client: SessionClient
  sluice: SluiceClient
}

/** The client of the URL, for pages below `/c/<client id>/`. */
export function useClient(): ChosenClient {
  const client = useChosenClient()
  if (!client) throw new Error('useClient needs a page below /c/<client id>/')
  return { client, sluice: libraryFor(client.id) }
}

const RANKS: Record<Role, number> = { viewer: 0, editor: 1, owner: 2 }

/** Whether the member has this role or a higher one: `useMay('editor')` before a button that changes something. */
export function useMay(role: Role): boolean {
  return RANKS[useSession().member.role] >= RANKS[role]
}
