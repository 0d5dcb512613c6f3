import { createHash, randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import type { ClientStorage } from './client-storage.ts'
import type { ClientRules } from './rules/table.ts'
import type { SecretScope } from './secret-scope.ts'

/** One user of the service: a team, a site. Its files live in a root of their own. */
export interface Client {
  /** Names the client in indexes, logs and folders; never changes. */
  id: string
  /** What people call it. */
  name?: string
  /** Public: stands in delivery URLs. */
  token: string
  /** Two during a rotation. */
  secrets: readonly KeptSecret[]
  /** Milliseconds since 1970. */
  createdAt: number
  /**
   * The versions of the keys that it signs delivery URLs with: those that count, oldest first, and the last one there was, so
   * that none comes again. The keys themselves are made of `APP_SECRET`.
   */
  urlKeys?: { active: ReadonlyArray<{ version: number; createdAt: number }>; last: number }
  /** What it may do, and what may be asked of its files; without them, what everyone may. */
  rules?: ClientRules
  /** Where its files are; absent: in the installation's. */
  storage?: ClientStorage
  /** Milliseconds since 1970, exclusive: until then its files are moving to another root, and all its requests wait. */
  pausedUntil?: number
  /**
   * Set when its removal has begun: from then on its tokens are nobody's, until all its files are gone and it with them.
   * `files`: they may be deleted; else it is only removed when it has none.
   */
  removing?: { files: boolean }
  /** The first client's secret token, encrypted with a key of `APP_SECRET`: for a restore of the bucket. */
  recovery?: string
}

/** Of one file of a client, where everyone may upload `maxBytes`. */
export function uploadMaxBytes({ rules }: Pick<Client, 'rules'>, maxBytes: number): number {
  return Math.min(rules?.uploadMaxBytes ?? maxBytes, maxBytes)
}

/** What is kept of a secret token. */
export interface KeptSecret {
  /** Names it where it has a scope: 11 characters of base58. */
  id?: string
  /** What people call it. */
  name?: string
  /** See {@link digestSecret}. */
  digest: string
  /** What it is for; absent for the client's own, which is for everything. */
  scope?: SecretScope
  /** Milliseconds since 1970, exclusive; for good without it. */
  validUntil?: number
}

/** Whether a secret is accepted at this instant, in milliseconds since 1970. */
export function isValid({ validUntil }: KeptSecret, now: number): boolean {
  return validUntil === undefined || now < validUntil
}

/** Whether its requests have to wait at this instant, in milliseconds since 1970. */
export function isPaused({ pausedUntil }: Client, now: number): boolean {
  return pausedUntil !== undefined && now < pausedUntil
}

/** The client that an installation starts with. */
export const FIRST_CLIENT_ID = 'first'

/** The id of a new client, or of a secret of one: 64 random bits as 11 characters of base58. */
export function newClientId(): string {
  return base58.encode(randomBytes(8)).padStart(11, '1')
}

/** Whether it could be one of {@link newClientId}. */
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

/** SHA-256 in hexadecimal. A plain hash is enough: there is nothing to guess in 256 random bits. */
export function digestSecret(secret: string): string {
  return createHash('sha256').update(`sluice-secret:${secret}`).digest('hex')
}
