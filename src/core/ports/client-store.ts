import type { Client } from '../client.ts'

/** The clients, few and read on every request: implementations answer look-ups from memory. */
export interface ClientStore {
  find(id: string): Client | undefined
  /** Not one that is being removed. */
  findByToken(token: string): Client | undefined
  /** By a secret that is valid now; not one that is being removed. Compares in constant time. */
  findBySecret(secret: string): Client | undefined
  list(): readonly Client[]
  /**
   * Adds a client, or puts it in the place of the one with its id. Other processes learn of it within seconds.
   * @throws when another has its token or secret; Problem 503
   */
  save(client: Client): Promise<void>
  /** Forgets a client, if there is one. @throws Problem 503 */
  remove(id: string): Promise<void>
  /** Learns what other processes have changed. @throws when it cannot; what is known stays */
  refresh(): Promise<void>
}
