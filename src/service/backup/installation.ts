import { sha256 } from '../../core/bytes/digest.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import type { Bucket } from '../../core/ports/bucket.ts'

/** The clients and buckets of an installation, without its index. */
export interface Installation {
  /**
   * The clients as their records in the bucket are now.
   *
   * @param damaged called for each client whose record cannot be used. Without it, such a record is an error
   * @throws Problem 503; Error for a damaged record
   */
  clients(damaged?: (id: string, detail: string) => void): Promise<readonly Client[]>
  /** The bucket of the first client, which has the records of clients. */
  first: Bucket
  /** The objects of a client, in its own bucket if it has one. Its operations fail when this bucket is unavailable. */
  bucketOf(client: Pick<Client, 'id' | 'token' | 'storage'>): Bucket
}

/** A text that differs between installations. Undefined when the record of the first client is damaged. */
export function identityOf(clients: readonly Client[]): string | undefined {
  const first = clients.find(({ id }) => id === FIRST_CLIENT_ID)
  return first && sha256(`${first.id} ${first.createdAt}`).slice(0, 16)
}
