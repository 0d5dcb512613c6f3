import type { Client } from '../../core/clients/client.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { Problem } from '../../core/problem.ts'
import { clientConflict, noSuchClient } from '../clients/change-existing.ts'

/** All current clients, or only the given one. @throws Problem 404 when the client does not exist */
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

/** 409: without any client, the work would find no difference, whatever the bucket has. */
export function noClients(): Problem {
  return clientConflict(
    'There are no clients yet. Start the service once: it creates the first client, which has the files.',
  )
}

/**
 * Runs `work` for each of {@link walkedClients}, one after the other, in the order of their IDs.
 *
 * @throws Problem that names the client: its own bucket may be unavailable. 409 without any client
 */
export async function withEachClient(
  clients: ClientStore,
  clientId: string | undefined,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const walked = [...(await walkedClients(clients, clientId))]
  if (walked.length === 0) throw noClients()
  for (const client of walked.sort((one, other) => (one.id < other.id ? -1 : 1)))
    try {
      await work(client)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      throw error.with({ detail: `files of the client ${client.id}: ${error.message}`, cause: error })
    }
}
