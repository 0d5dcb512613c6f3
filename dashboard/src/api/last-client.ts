import type { SessionClient } from '../../../client/index.ts'

const KEY = 'sluice-client'

/** Remembers the client that this browser has shown last. */
export function rememberClient(id: string): void {
  localStorage.setItem(KEY, id)
}

/** The client that a new page shows. Undefined: the member may see no client. */
export function firstClient(clients: readonly SessionClient[]): SessionClient | undefined {
  const last = localStorage.getItem(KEY)
  return clients.find(({ id }) => id === last) ?? clients[0]
}
