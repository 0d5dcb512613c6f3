import { hash, randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import type { ClientStorage } from './client-storage.ts'
import type { ClientRules } from './rules/table.ts'
import type { SecretScope } from './secret-scope.ts'

/** One user of the service, for example a team or a website. Each client has a separate root for its files. */
export interface Client {
  /** Identifies the client in indexes, logs and folders. Never changes. */
  id: string
  /** A display name. */
  name?: string
  /** The public token. Part of delivery URLs. */
  token: string
  /** The client's own secret and its scoped secrets. A secret that is being rotated is listed with its successor. */
  secrets: readonly StoredSecret[]
  /** Milliseconds since 1970. */
  createdAt: number
  /**
   * The versions of the keys that sign its delivery URLs: the active ones, oldest first, and the last version that was
   * assigned, so that no version is used twice. The keys themselves are derived from `APP_SECRET`.
   */
  urlKeys?: { active: ReadonlyArray<{ version: number; createdAt: number }>; last: number }
  /** Restrictions of this client; the installation's limits apply when absent. */
  rules?: ClientRules
  /** Descriptions of presets of `rules`, by their names. A name that `rules` no longer has is ignored. */
  presetDescriptions?: Readonly<Record<string, string>>
  /** The client's own bucket; the installation's bucket when absent. */
  storage?: ClientStorage
  /** Milliseconds since 1970, exclusive. Until then its files move to another root, and all its requests wait. */
  pausedUntil?: number
  /**
   * Set when its removal has begun. From then on its tokens are invalid. The client is removed after its last file.
   * `files`: its files may be deleted; otherwise the client is removed only when it has no files.
   */
  removing?: { files: boolean }
  /** The first client's secret token, encrypted with a key of `APP_SECRET`: for a restore of the bucket. */
  recovery?: string
}

/** The maximum size of one file of a client. @param maxBytes the limit of the installation */
export function uploadMaxBytes({ rules }: Pick<Client, 'rules'>, maxBytes: number): number {
  return Math.min(rules?.uploadMaxBytes ?? maxBytes, maxBytes)
}

/** The stored form of a secret token. */
export interface StoredSecret {
  /** Identifies a scoped secret: 11 characters of base58. Absent for the client's own secret. */
  id?: string
  /** A display name. */
  name?: string
  /** See {@link digestSecret}. */
  digest: string
  /** The permissions of a scoped secret; absent for the client's own secret, which has all permissions. */
  scope?: SecretScope
  /** Milliseconds since 1970, exclusive; a secret without it never expires. */
  validUntil?: number
}

/** Whether a secret is accepted at this instant, in milliseconds since 1970. */
export function isValid({ validUntil }: StoredSecret, now: number): boolean {
  return validUntil === undefined || now < validUntil
}

/** Whether the client's requests have to wait at this instant, in milliseconds since 1970. */
export function isPaused({ pausedUntil }: Client, now: number): boolean {
  return pausedUntil !== undefined && now < pausedUntil
}

/** The id of the client that an installation starts with. */
export const FIRST_CLIENT_ID = 'first'

/** The id of a new client or of a new scoped secret: 64 random bits as 11 characters of base58. */
export function newClientId(): string {
  return base58.encode(randomBytes(8)).padStart(11, '1')
}

/** Whether a text has the form of {@link newClientId}. */
export function isClientId(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]{11}$/.test(text)
}

/** A public token: 128 random bits, `pub_…`. */
export function newClientToken(): string {
  return `pub_${base58.encode(randomBytes(16))}`
}

/** A secret token: 256 random bits, `sec_…`. */
export function newSecretToken(): string {
  return `sec_${base58.encode(randomBytes(32))}`
}

/** SHA-256 in hexadecimal. A fast hash is enough: 256 random bits cannot be guessed. */
export function digestSecret(secret: string): string {
  return hash('sha256', `sluice-secret:${secret}`)
}
