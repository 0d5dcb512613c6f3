import type { Client } from '../client.ts'

/** The clients, few and read on every request: implementations answer look-ups from memory. */
export interface ClientStore {
  find(id: string): Client | undefined
  findByToken(token: string): Client | undefined
  /** Compares in constant time. */
  findBySecret(secret: string): Client | undefined
  list(): readonly Client[]
  /** Adds a client, or puts it in the place of the one with its id. @throws when another has its token or secret */
  save(client: Client): Promise<void>
}
