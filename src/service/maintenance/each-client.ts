import type { Client } from '../../core/clients/client.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { Problem } from '../../core/problem.ts'
import { noSuchClient } from '../clients/change-existing.ts'

/** All current clients, or only the requested one. @throws Problem 404 when there is no such client */
export async function walkedClients(
  clients: ClientStore,
  clientId: string | undefined,
): Promise<readonly Client[]> {
  await clients.refresh()
  if (clientId === undefined) return clients.list()
  const client = clients.find(clientId)
  if (!client) throw noSuchClient(clientId)
  return [client]
}

/**
 * Calls `work` for each of {@link walkedClients}, in turn.
 *
 * @throws Problem that names the client: a client may have a bucket of its own, and only that one may be unavailable
 */
export async function withEachClient(
  clients: ClientStore,
  clientId: string | undefined,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  for (const client of await walkedClients(clients, clientId))
    try {
      await work(client)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      throw error.with({ detail: `files of the client ${client.id}: ${error.message}`, cause: error })
    }
}
