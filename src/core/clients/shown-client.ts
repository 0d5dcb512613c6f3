import type { StorageConnection } from './client-storage.ts'
import type { ClientRules } from './rules/table.ts'
import type { SecretScope } from './secret-scope.ts'

/** A client without its secrets and their digests. Times are in ISO 8601. */
export interface ShownClient {
  id: string
  name?: string
  clientToken: string
  createdAt: string
  state: 'active' | 'removing'
  rules?: ClientRules
  /** The versions of the active keys for signed URLs. */
  urlKeys?: number[]
  /** The own bucket of the client, without the secret access key. */
  storage?: StorageConnection
  /** When the last of the secrets that a rotation has replaced expires. */
  oldSecretUntil?: string
  /** The scoped secrets. */
  secrets?: ShownSecret[]
}

/** A scoped secret without its token and digest. */
export interface ShownSecret extends SecretScope {
  id: string
  name?: string
  /** When the secret expires. Absent: it never expires. */
  until?: string
}
