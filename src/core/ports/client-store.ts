import type { Client, StoredSecret } from '../clients/client.ts'

/** The clients. They are few and read on every request, so implementations keep them in memory. */
export interface ClientStore {
  find(id: string): Client | undefined
  /** Does not return a client that is being removed. */
  findByToken(token: string): Client | undefined
  /**
   * The client with this secret and the record of the secret, if it is valid now. Does not return a client that is being removed.
   * Compares in constant time.
   */
  findBySecret(secret: string): { client: Client; stored: StoredSecret } | undefined
  list(): readonly Client[]
  /**
   * Replaces a client by the result of `make`, or removes it if that is `undefined`. The client is read again first, and no process
   * can change it in between. Other processes see the change within seconds.
   * @param make is called with `undefined` when the client does not exist; if it throws, nothing changes
   * @returns the result of `make`
   * @throws the error of `make`; an error when another client has its token or secret; Problem 503
   */
  change<T extends Client | undefined>(
    id: string,
    make: (client: Client | undefined) => T | Promise<T>,
  ): Promise<T>
  /** Adds a client, or replaces the one with its id unconditionally. @throws as a change */
  save(client: Client): Promise<void>
  /** Removes a client, if it exists. @throws Problem 503 */
  remove(id: string): Promise<void>
  /**
   * Reads the changes of other processes, unless that was done in the last `maxAgeMs`. Default: 0.
   * @throws when the store is unavailable; the cached clients remain
   */
  refresh(options?: { maxAgeMs: number }): Promise<void>
}
