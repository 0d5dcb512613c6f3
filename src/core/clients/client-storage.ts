/** A bucket in S3 or a compatible store, and how to connect to it, without the secret access key. */
export interface StorageConnection {
  /** `https://storage.example:9000`: scheme, host and port. */
  endpoint: string
  region: string
  bucket: string
  /** The prefix of all object names: empty, or folders with a slash at the end. */
  prefix: string
  /** Whether the bucket is named in the path instead of the host name. */
  forcePathStyle: boolean
  accessKeyId: string
  /** The public base URL of the objects, when it differs from the store's; without a trailing slash. */
  publicUrl?: string
}

/** A client's own bucket, as the client's record stores it. */
export interface ClientStorage extends StorageConnection {
  /** The secret access key, encrypted by {@link seal} for the place {@link sealedPlace}. */
  sealedSecret: string
  /** The base URL of the objects in the store itself; without a trailing slash. */
  address: string
}

/** The location of a client's objects. Without `endpoint` the store is unknown and may be any. */
export interface Root {
  endpoint?: string | undefined
  bucket: string
  prefix: string
}

/** The place for {@link seal}: the encrypted secret of one client cannot be used for another. */
export function sealedPlace(clientId: string): string {
  return `bucket of ${clientId}`
}

/** Whether both are the same location. An absent one is the installation's own. */
export function isSameRoot(one: Root | undefined, other: Root | undefined): boolean {
  if (!one || !other) return one === other
  return one.bucket === other.bucket && one.prefix === other.prefix && areSameStore(one, other)
}

/** Whether one of them contains or equals the other. */
export function overlap(one: Root, other: Root): boolean {
  if (one.bucket !== other.bucket || !areSameStore(one, other)) return false
  return one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix)
}

function areSameStore({ endpoint: one }: Root, { endpoint: other }: Root): boolean {
  return one === undefined || other === undefined || storeOf(one) === storeOf(other)
}

/** Names of Amazon's buckets are unique across all its endpoints. A machine has several names for itself: they become `localhost`. */
function storeOf(endpoint: string): string {
  const { hostname, port, protocol } = new URL(endpoint)
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(hostname)) return 'amazonaws.com'
  const host = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
    ? 'localhost'
    : hostname.replace(/\.$/, '')
  return `${host}:${port || (protocol === 'https:' ? 443 : 80)}`
}
