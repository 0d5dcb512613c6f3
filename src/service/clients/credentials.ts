import {
  type Client,
  digestSecret,
  isValid,
  newClientId,
  newSecretToken,
  type StoredSecret,
} from '../../core/clients/client.ts'
import type { SecretScope } from '../../core/clients/secret-scope.ts'
import { usesSignedUrls } from '../../core/clients/signed-delivery.ts'
import { parseFolder } from '../../core/files/object-key.ts'
import { Problem } from '../../core/problem.ts'
import type { UrlKey } from '../../core/signing/signed-url.ts'
import { truncate } from '../../core/text/truncate.ts'
import { type ChangeKnown, clientConflict } from './change-existing.ts'
import { checkClientName } from './name.ts'
import type { UrlKeys } from './url-keys.ts'

/** A scoped secret to create. */
export interface NewSecret {
  name?: string | undefined
  scope: SecretScope
  /** Validity in milliseconds from now. Absent: it never expires. */
  validMs?: number | undefined
}

/** The additional credentials of a client: scoped secrets, and keys for signed URLs. */
export interface ClientCredentials {
  /**
   * Adds a scoped secret.
   * @param options `validMs`: without it, the secret never expires
   * @throws Problem 400, 404 when the client does not exist, 409 when it is being removed, or has 100 secrets
   */
  addSecret(id: string, options: NewSecret): Promise<{ client: Client; stored: StoredSecret; secret: string }>
  /** Revokes a secret. @throws Problem 404 when the client or secret does not exist, 409 */
  removeSecret(id: string, secretId: string): Promise<Client>
  /**
   * Adds a key for signed delivery URLs. The current keys remain valid.
   * @throws Problem 404 when the client does not exist, 409 when it is being removed, or has ten keys
   */
  addUrlKey(id: string): Promise<{ client: Client; urlKey: UrlKey }>
  /**
   * Revokes a key, and with it all URLs signed with it.
   * @throws Problem 404 when the client or key does not exist, 409 when it is being removed, and for the last key of a
   *   client that requires signed URLs
   */
  removeUrlKey(id: string, version: number): Promise<Client>
}

// Each request looks up its secret among all of them.
const SECRETS_MAX = 100
// Two during a key rotation, and a few more for clients that sign in several places.
const URL_KEYS_MAX = 10

export function createClientCredentials({
  changeKnown,
  urlKeys,
  now,
}: {
  changeKnown: ChangeKnown
  urlKeys: UrlKeys
  now: () => number
}): ClientCredentials {
  return {
    async addSecret(id, { name, scope, validMs }) {
      if (name !== undefined) checkClientName(name)
      const folder = scope.folder === undefined ? undefined : parseFolder(scope.folder, 'folder')
      const secret = newSecretToken()
      const stored: StoredSecret = {
        id: newClientId(),
        ...(name === undefined ? {} : { name }),
        digest: digestSecret(secret),
        scope: { ...(scope.only ? { only: scope.only } : {}), ...(folder ? { folder } : {}) },
        ...(validMs === undefined ? {} : { validUntil: now() + validMs }),
      }
      const client = await changeKnown(id, (present) => {
        const secrets = present.secrets.filter((one) => isValid(one, now()))
        if (secrets.length >= SECRETS_MAX)
          throw clientConflict(`${id} has ${SECRETS_MAX} secrets: remove one first`)
        return { ...present, secrets: [...secrets, stored] }
      })
      return { client, stored, secret }
    },
    removeSecret: (id, secretId) =>
      changeKnown(id, (present) => {
        const secrets = present.secrets.filter((one) => one.id !== secretId)
        if (secrets.length === present.secrets.length) throw noSuchSecret(id, secretId)
        return { ...present, secrets }
      }),
    async addUrlKey(id) {
      const client = await changeKnown(id, (present) => {
        const { active = [], last = 0 } = present.urlKeys ?? {}
        if (active.length >= URL_KEYS_MAX)
          throw clientConflict(`${id} has ${URL_KEYS_MAX} keys: remove one first`)
        const version = last + 1
        return { ...present, urlKeys: { active: [...active, { version, createdAt: now() }], last: version } }
      })
      return { client, urlKey: urlKeys.make(id, client.urlKeys?.last ?? 0) }
    },
    removeUrlKey: (id, version) =>
      changeKnown(id, (present) => {
        const { active = [], last = 0 } = present.urlKeys ?? {}
        const left = active.filter((one) => one.version !== version)
        if (left.length === active.length) throw noSuchKey(id, version)
        if (left.length === 0 && usesSignedUrls(present.rules)) throw clientConflict(needsUrlKey(id))
        return { ...present, urlKeys: { active: left, last } }
      }),
  }
}

/** The error text for a client that requires signed URLs and would have no key. */
export function needsUrlKey(id: string): string {
  return `Signed URLs and private folders need a key, and ${id} has no key yet. Add one first: sluice client key add <id>`
}

function noSuchKey(id: string, version: number): Problem {
  return new Problem({
    status: 404,
    code: 'key_not_found',
    detail: `the client ${id} has no key of version ${version}`,
  })
}

function noSuchSecret(id: string, secretId: string): Problem {
  return new Problem({
    status: 404,
    code: 'secret_not_found',
    detail: `the client ${id} has no secret with the id ${JSON.stringify(truncate(secretId))}`,
  })
}
