/** A client of an installation, without its secrets. */
export interface ManagedClient {
  id: string
  name?: string
  /** The public token in delivery URLs. */
  clientToken: string
  createdAt: string
  state: 'active' | 'removing'
  /** docs/reference/client-rules.md. */
  rules?: Record<string, unknown>
  /** The versions of the active keys for signed URLs. */
  urlKeys?: number[]
  storage?: Omit<ClientStorage, 'secretAccessKey'>
  oldSecretUntil?: string
  secrets?: ShownSecret[]
}

/** A client that was created, or got a new secret. */
export interface Created extends ManagedClient {
  secretClientToken: string
}

/** A new client. All members are optional. */
export interface NewClient {
  name?: string | null
  rules?: Record<string, unknown>
  storage?: ClientStorage
}

/** A bucket in S3 or a compatible store. */
export interface ClientStorage {
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  endpoint?: string
  region?: string
  prefix?: string
  forcePathStyle?: boolean
  publicUrl?: string
}

/** What a scoped secret may do. */
export interface NewSecret {
  name?: string
  only?: 'upload' | 'read'
  folder?: string
  /** The lifetime. Without it, the secret does not expire. */
  validSeconds?: number
}

/** A scoped secret, without its token. */
export interface ShownSecret {
  id: string
  name?: string
  only?: 'upload' | 'read'
  folder?: string
  until?: string
}

/** A new scoped secret. */
export interface CreatedSecret extends ShownSecret {
  secretClientToken: string
}
