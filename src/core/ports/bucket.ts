import type { Readable } from 'node:stream'
import type { Asset } from '../bytes/asset.ts'
import type { Client } from '../clients/client.ts'
import type { ObjectKey } from '../files/object-key.ts'

/** The objects of one client. An outage throws; a miss is `undefined`. */
export interface Bucket {
  /** @param known the media type, if the caller knows it: the bucket then need not find it out */
  find(key: ObjectKey, known?: { mediaType: string }): Promise<Asset | undefined>
  /**
   * Creates or replaces the object `key` with all of `bytes`, or changes nothing: when the stream fails, the signal aborts
   * or the process dies. Resolves when the object survives a power cut, except with {@link PutOptions.durable} `false`.
   * Consumes or destroys the stream.
   */
  put(key: ObjectKey, bytes: Readable, options: PutOptions): Promise<void>
  /** Deletes the objects of `keys`; a missing object counts as deleted. */
  delete(keys: readonly ObjectKey[]): Promise<DeleteOutcome>
  /** The keys that begin with `prefix`, in no particular order. */
  list(prefix: string): AsyncIterable<ObjectKey>
  /** Aborts the unfinished puts of dead processes under keys with this prefix, and deletes their bytes. */
  abortPuts(prefix: string): Promise<void>
  /** The public URL of an object, whether it exists or not. */
  urlOf(key: ObjectKey): string
}

export interface PutOptions {
  mediaType: string
  /** False for objects that can be rendered again: a power cut may lose the object, but never leaves a part. Default true. */
  durable?: boolean
  /** Whether the put is a step of a delete, which may use the reserve of a full disk. */
  freesRoom?: boolean
  signal?: AbortSignal
}

export interface DeleteOutcome {
  /** Keys that may still exist, each with its error. */
  failed: ReadonlyArray<{ key: ObjectKey; error: unknown }>
}

/** The buckets of all clients. No client's root contains another's. */
export interface Buckets {
  /** The objects of a client, in the client's own bucket or in the installation's. */
  of(client: Pick<Client, 'id' | 'token' | 'storage'>): Bucket
  /** Checks the installation's bucket. @throws when objects cannot be stored or read at the moment */
  ping(): Promise<void>
  /**
   * Removes the remains of puts whose process was killed.
   * @param olderThanMs only puts begun longer ago are removed; must exceed the duration of any put
   * @param clients their own buckets are swept too; the next sweep retries a bucket that is unavailable
   * @returns the number of removed puts
   */
  sweep(olderThanMs: number, clients?: readonly Client[]): Promise<number>
}
