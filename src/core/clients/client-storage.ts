/** A bucket in S3 or a compatible store, and how it is reached, without the secret. */
export interface StorageConnection {
  /** `https://storage.example:9000`: scheme, host and port. */
  endpoint: string
  region: string
  bucket: string
  /** Empty, or folders with a slash at the end: what all names begin with. */
  prefix: string
  /** Bucket in the path instead of the host name. */
  forcePathStyle: boolean
  accessKeyId: string
  /** Where it can be fetched, when that is another place than the store; without a slash at its end. */
  publicUrl?: string
}

/** A bucket of a client's own, as its record keeps it. */
export interface ClientStorage extends StorageConnection {
  /** The secret of its key, see {@link seal}; its place is {@link sealedPlace}. */
  sealedSecret: string
  /** Where it can be fetched in the store itself; without a slash at its end. */
  address: string
}

/** Where a client's objects lie; `endpoint` absent: it is not known, and could be any. */
export interface Root {
  endpoint?: string | undefined
  bucket: string
  prefix: string
}

/** For {@link seal}: the secret of one client is not that of another. */
export function sealedPlace(clientId: string): string {
  return `bucket of ${clientId}`
}

/** Whether both are the same place, the installation's own when absent. */
export function isSameRoot(one: Root | undefined, other: Root | undefined): boolean {
  if (!one || !other) return one === other
  return one.bucket === other.bucket && one.prefix === other.prefix && areSameStore(one, other)
}

/** Whether one of them contains the other, or is it. */
export function overlap(one: Root, other: Root): boolean {
  if (one.bucket !== other.bucket || !areSameStore(one, other)) return false
  return one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix)
}

function areSameStore({ endpoint: one }: Root, { endpoint: other }: Root): boolean {
  return one === undefined || other === undefined || storeOf(one) === storeOf(other)
}

/** Amazon's buckets have one name for all its endpoints, and a machine many for itself. */
function storeOf(endpoint: string): string {
  const { hostname, port, protocol } = new URL(endpoint)
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(hostname)) return 'amazonaws.com'
  const host = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
    ? 'localhost'
    : hostname.replace(/\.$/, '')
  return `${host}:${port || (protocol === 'https:' ? 443 : 80)}`
}
