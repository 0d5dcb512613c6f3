import type { Client, KeptSecret } from '../clients/client.ts'

/** The clients, few and read on every request: implementations answer look-ups from memory. */
export interface ClientStore {
  find(id: string): Client | undefined
  /** Not one that is being removed. */
  findByToken(token: string): Client | undefined
  /** By a secret that is valid now, and what is kept of that; not one that is being removed. Compares in constant time. */
  findBySecret(secret: string): { client: Client; kept: KeptSecret } | undefined
  list(): readonly Client[]
  /**
   * Puts what `make` makes of a client in its place, `undefined` for nothing. The client is read anew, and no other
   * change of it comes in between, of whatever process. Others learn of it within seconds.
   * @param make gets `undefined` when there is none; what it throws leaves all as it is
   * @returns what it made
   * @throws what `make` throws; when another has its token or secret; Problem 503
   */
  change<T extends Client | undefined>(
    id: string,
    make: (client: Client | undefined) => T | Promise<T>,
  ): Promise<T>
  /** Adds a client, or puts it in the place of the one with its id, whatever that is by now. @throws as a change */
  save(client: Client): Promise<void>
  /** Forgets a client, if there is one. @throws Problem 503 */
  remove(id: string): Promise<void>
  /**
   * Learns what other processes have changed, unless it has done so in the last `maxAgeMs` (0 when absent).
   * @throws when it cannot; what is known stays
   */
  refresh(options?: { maxAgeMs: number }): Promise<void>
}
