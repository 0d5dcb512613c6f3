import type { Readable } from 'node:stream'
import type { Asset } from '../bytes/asset.ts'
import type { Client } from '../clients/client.ts'
import type { ObjectKey } from '../files/object-key.ts'

/** The objects of one client. An outage throws; a miss is `undefined`. */
export interface Bucket {
  /** `known`: what the caller knows already, so that it need not be found out. */
  find(key: ObjectKey, known?: { mediaType: string }): Promise<Asset | undefined>
  /**
   * Stores all of `bytes` under `key`, in place of what is there, or nothing: when the stream fails, the signal aborts
   * or the process dies, no object has appeared or changed. Resolves when the object survives a power cut, unless
   * it need not: see {@link PutOptions.durable}.
   * Consumes or destroys the stream.
   */
  put(key: ObjectKey, bytes: Readable, options: PutOptions): Promise<void>
  /** Deletes what is there of `keys`; a missing one counts as deleted. */
  delete(keys: readonly ObjectKey[]): Promise<DeleteOutcome>
  /** The keys that begin with `prefix`, in no particular order. */
  list(prefix: string): AsyncIterable<ObjectKey>
  /** Ends the puts under keys with this prefix, begun by processes that are dead: nothing of them stays. */
  abortPuts(prefix: string): Promise<void>
  /** The public address of an object, whether it exists or not. */
  urlOf(key: ObjectKey): string
}

export interface PutOptions {
  mediaType: string
  /** False for what can be made again: a power cut may take it away, but leaves no part of it. True by default. */
  durable?: boolean
  /** Whether it is a step of a delete, which may use the reserve of a full disk. */
  freesRoom?: boolean
  signal?: AbortSignal
}

export interface DeleteOutcome {
  /** Keys that may still be there, each with its error. */
  failed: ReadonlyArray<{ key: ObjectKey; error: unknown }>
}

/** Where the buckets of all clients are. No client's root contains another's. */
export interface Buckets {
  /** In the bucket that the client has of its own, else in the installation's. */
  of(client: Pick<Client, 'id' | 'token' | 'storage'>): Bucket
  /** Of the installation's. @throws when objects cannot be stored or read at the moment */
  ping(): Promise<void>
  /**
   * Removes what puts have left that will never end, those of a killed process: whatever was begun more than
   * `olderThanMs` ago, which must be longer than any put takes.
   * @param clients in whose own buckets it looks as well; one that is away is left for the next time
   * @returns how many
   */
  sweep(olderThanMs: number, clients?: readonly Client[]): Promise<number>
}
