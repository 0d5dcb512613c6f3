import type { Readable } from 'node:stream'
import type { Asset } from '../bytes/asset.ts'
import type { Client } from '../clients/client.ts'
import type { ObjectKey } from '../files/object-key.ts'

/** The objects of one client. Methods throw during an outage, and return `undefined` for an object that does not exist. */
export interface Bucket {
  /** `known`: properties that the caller knows, which saves a request. */
  find(key: ObjectKey, known?: { mediaType: string }): Promise<Asset | undefined>
  /**
   * As {@link find}, for an object that should exist with this size. A remote store is not asked: then only `open` of the asset
   * throws Problem 404 when the object does not exist.
   *
   * @throws ChangedObject when the object has another size; for a remote store `open` throws it
   */
  assume(key: ObjectKey, known: AssumedObject): Promise<Asset | undefined>
  /**
   * Stores all of `bytes` under `key` and replaces an existing object. When the stream fails, the signal aborts or the process
   * dies, no object is added or changed. Resolves when the object survives a power cut, except as in {@link PutOptions.durable}.
   * Consumes or destroys the stream.
   */
  put(key: ObjectKey, bytes: Readable, options: PutOptions): Promise<void>
  /**
   * Copies an object within the store, under another key of the same client, and replaces an existing object there. When it fails,
   * no part of an object is added. Resolves when the copy survives a power cut.
   * @returns false, and changes nothing, when the object does not exist
   */
  copy(from: ObjectKey, to: ObjectKey, options: CopyOptions): Promise<boolean>
  /** Deletes the objects with these keys. An object that does not exist counts as deleted. */
  delete(keys: readonly ObjectKey[]): Promise<DeleteOutcome>
  /** The keys that begin with `prefix`. Without `after` in no particular order. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ObjectKey>
  /** The objects whose keys begin with `prefix`, in the order of the bytes of their keys in UTF-8. No object is opened. */
  listObjects(prefix: string, options?: ListOptions): AsyncIterable<ListedObject>
  /** Aborts the puts under keys with this prefix that dead processes have begun, and removes their bytes. */
  abortPuts(prefix: string): Promise<void>
  /** The public URL of an object, whether it exists or not. */
  urlOf(key: ObjectKey): string
  /**
   * Whether clients of this service are expected to reach the store: it is Amazon's, or the operator has stated its URL for them. A
   * request to an address of a private network would let a browser wait, or ask its user.
   */
  isReachable?: boolean
  /** Permits a client to put one object itself, without this service. Absent where the store cannot: on a disk. @throws Problem 503 */
  permitPut?(key: ObjectKey, options: PermitOptions): Promise<PutPermit>
  /**
   * The parts that clients have put by a permit with an `uploadId`, in order. Empty when that upload does not exist.
   * @throws Problem 503; without the permission to list parts, its cause has the name `AccessDenied`
   */
  partsOf?(key: ObjectKey, uploadId: string): Promise<PutPart[]>
  /** Creates the object from these parts. @throws Problem 503 */
  joinParts?(key: ObjectKey, uploadId: string, parts: readonly PutPart[]): Promise<void>
  /**
   * As {@link copy}, from the root of the first client in the same store. Absent where the object would have to pass through this
   * process.
   */
  copyFromFirst?(from: ObjectKey, to: ObjectKey, options: CopyOptions): Promise<boolean>
}

export interface PermitOptions {
  /** The size of the object in bytes, from 1. */
  size: number
  /** The smallest size of a part except the last one, in bytes: a multiple of 1 MiB, from 5 MiB. Default: 16 MiB. */
  partBytes?: number
  /** The most requests that are signed at once, from 1. Default: 200. */
  putsMax?: number
  expiresInSeconds: number
  /** Continues this upload: only parts that the store has not received are permitted. Absent: another upload begins. */
  rest?: { uploadId: string; received: readonly PutPart[] }
}

/** The requests with which a client puts an object. */
export interface PutPermit {
  /** The multipart upload, from whose parts {@link Bucket.joinParts} creates the object. */
  uploadId: string
  /** The end of the requests, in milliseconds since 1970. Credentials may expire before the requested time. */
  until: number
  /** Each with its part of the bytes, in order: the first ones of those that are missing. */
  puts: PermittedPut[]
  /** The number of bytes that the store has not received: of `puts`, and of the parts after these. */
  missingBytes: number
}

export interface PermittedPut {
  url: string
  /** The headers that the request must have, besides `Content-Length`. */
  headers: Readonly<Record<string, string>>
  /** Offset of its first byte in the object. */
  start: number
  /** Number of its bytes. The store refuses a body of another length. */
  size: number
}

/** A part that the store has received. */
export interface PutPart {
  /** From 1. */
  number: number
  size: number
  etag: string
  /** When it was received, in milliseconds since 1970, by the clock of the store. */
  at: number
}

/** The properties of an object, as they were noted when it was stored. */
export type AssumedObject = Pick<Asset, 'mediaType' | 'size' | 'lastModified'>

/** An object has another size than it was stored with. */
export class ChangedObject extends Error {
  /** Its size in bytes, or the most that it can be. */
  readonly size: number

  constructor(size: number) {
    super(`the object has ${size} bytes`)
    this.size = size
  }
}

/** @returns the asset @throws ChangedObject */
export function ofSize(asset: Asset | undefined, { size }: Pick<Asset, 'size'>): Asset | undefined {
  if (asset && asset.size !== size) throw new ChangedObject(asset.size)
  return asset
}

export interface PutOptions {
  mediaType: string
  /** Default: true. False for an object that can be rendered again: a power cut may remove it, but leaves no part of it. */
  durable?: boolean
  /** Whether it is a step of a delete, which may use the reserve of a full disk. */
  freesRoom?: boolean
  signal?: AbortSignal
  /** Called with the tag of the stored object, as {@link ListedObject.tag}, before the put resolves. Not called where it is unknown. */
  tagged?: (tag: string) => void
}

/** An object, as a list of the bucket describes it. */
export interface ListedObject {
  key: ObjectKey
  /** In bytes. */
  size: number
  /** As `tag` of an {@link Asset}. */
  tag?: string
}

export interface ListOptions {
  /**
   * A key of an earlier list with this option, or an empty text for the first one: the keys are in an order of the bucket, which
   * is always the same, and only those after this key are listed. A key that was added behind it in the meantime is not.
   */
  after?: string
}

export interface CopyOptions {
  /** Of the object, and of its copy. */
  mediaType: string
  /** What is known of the object. Another one is refused with 503. Default: it is looked up when the copy begins. */
  known?: { etag: string; size: number }
  signal?: AbortSignal
}

export interface DeleteOutcome {
  /** Keys of objects that may still exist, each with its error. */
  failed: ReadonlyArray<{ key: ObjectKey; error: unknown }>
}

/** The buckets of all clients. No client's root contains that of another client. */
export interface Buckets {
  /** The objects of a client: in its own bucket if it has one, else in that of the installation. */
  of(client: Pick<Client, 'id' | 'token' | 'storage'>): Bucket
  /** Checks the bucket of the installation. @throws when objects cannot be stored or read */
  ping(): Promise<void>
  /**
   * Removes the remains of puts whose process was killed: those that began more than `olderThanMs` ago, which must be longer than
   * any put takes.
   * @returns the number of removed puts
   */
  sweep(olderThanMs: number, options?: SweepOptions): Promise<number>
}

export interface SweepOptions {
  /** Whose own buckets are included; one that is unavailable is skipped. */
  clients?: readonly Client[]
  /** Whether a put under this key continues, however old it is: a client may send a large file for days. Default: none does. */
  continues?: (key: string) => Promise<boolean>
}
