import type { Client } from '../core/client.ts'
import type { ClientStore } from '../core/ports/client-store.ts'
import { noSuchClient } from './known-client.ts'

/** All clients as they are now, or the one that is asked for. @throws Problem 404 when there is none */
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
