import { createHash, randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import type { ClientStorage } from './client-storage.ts'
import type { ClientLimitName } from './limit-names.ts'
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
  secrets: readonly KeptSecret[]
  /** Milliseconds since 1970. */
  createdAt: number
  /**
   * The versions of the keys that sign its delivery URLs: the active ones, oldest first, and the last version that was
   * assigned, so that no version is used twice. The keys themselves are derived from `APP_SECRET`.
   */
  urlKeys?: { active: ReadonlyArray<{ version: number; createdAt: number }>; last: number }
  /** Restrictions of this client; the installation's limits apply when absent. */
  rules?: ClientRules
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

/** Restrictions of a client and of the transformations of its files. For an absent rule, the installation's default applies. */
export interface ClientRules {
  /** Files are delivered by signed URLs only. */
  signedUrls?: true
  /** `preset` is the only parameter that delivery takes. */
  presetsOnly?: true
  /** In pixels, ascending, at least one. Any other width is rounded up to the next one of the list. */
  allowedWidths?: readonly number[]
  /** Maximum number of derivatives of one original. */
  variantLimit?: number
  /** Maximum total of bytes of all its derivatives. */
  derivativesMaxBytes?: number
  /**
   * Hosts that remote files may be fetched from, as `namesHost` reads them; an empty list allows no host. When absent,
   * callers with a secret may fetch from any host, and callers with only a URL from no host.
   */
  fetchHosts?: readonly string[] | 'any'
  /** Hosts that are denied even when `fetchHosts` allows them. */
  fetchDenyHosts?: readonly string[]
  /** Retention of soft-deleted files, in seconds; when absent, every delete is permanent. */
  keepDeletedSeconds?: number
  /** `reuse`: an upload of bytes that the folder already has stores nothing and returns the existing record. */
  dedupe?: 'reuse'
  /** Maximum size of one file. */
  uploadMaxBytes?: number
  /** Points by name of the limit. They replace the configured ones; 0 disables the limit. */
  rates?: Readonly<Partial<Record<ClientLimitName, number>>>
  /** The client's own presets. They replace the installation's presets of the same name. */
  presets?: PresetSettings
}

/** Presets as an operator writes them: for the name of each preset, the values by parameter. */
export type PresetSettings = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>

/** The maximum size of one file of a client. @param maxBytes the limit of the installation */
export function uploadMaxBytes({ rules }: Pick<Client, 'rules'>, maxBytes: number): number {
  return Math.min(rules?.uploadMaxBytes ?? maxBytes, maxBytes)
}

/** The stored form of a secret token. */
export interface KeptSecret {
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
export function isValid({ validUntil }: KeptSecret, now: number): boolean {
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
  return createHash('sha256').update(`sluice-secret:${secret}`).digest('hex')
}
