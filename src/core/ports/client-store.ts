import type { Client, KeptSecret } from '../clients/client.ts'

/** The clients. There are few, and every request reads them, so implementations find them in memory. */
export interface ClientStore {
  find(id: string): Client | undefined
  /** Ignores clients that are being removed. */
  findByToken(token: string): Client | undefined
  /**
   * Finds a client and the stored form of a currently valid secret. Ignores clients that are being removed. Compares in
   * constant time.
   */
  findBySecret(secret: string): { client: Client; kept: KeptSecret } | undefined
  list(): readonly Client[]
  /**
   * Reads a client and replaces it by the result of `make`, as one atomic step across all processes. Other processes see
   * the change within seconds.
   * @param make receives `undefined` when the client does not exist, and returns `undefined` for no client. When it throws,
   *   nothing changes
   * @returns the result of `make`
   * @throws the errors of `make`; an Error when another client has the same token or secret; Problem 503
   */
  change<T extends Client | undefined>(
    id: string,
    make: (client: Client | undefined) => T | Promise<T>,
  ): Promise<T>
  /** Adds a client, or replaces the current client with this id. @throws as `change` */
  save(client: Client): Promise<void>
  /** Removes a client, if it exists. @throws Problem 503 */
  remove(id: string): Promise<void>
  /**
   * Reads the changes of other processes, unless the last refresh is at most `maxAgeMs` ago (default 0).
   * @throws when they cannot be read; the cached clients remain
   */
  refresh(options?: { maxAgeMs: number }): Promise<void>
}
