import type { Client } from '../../core/clients/client.ts'
import type { AppKeys } from '../../core/signing/derive-key.ts'
import type { UrlKey } from '../../core/signing/signed-url.ts'

/** The keys with which clients sign delivery URLs. They are derived, so only their versions are stored. */
export interface UrlKeys {
  /** The key of a version. Undefined when the version is not active. */
  find(client: Client, version: number): string | undefined
  /** The newest active key. Undefined when the client has none. */
  newest(client: Client): UrlKey | undefined
  /** Derives the key of a version, whether it is active or not. */
  make(clientId: string, version: number): UrlKey
}

export function createUrlKeys(keys: AppKeys): UrlKeys {
  const make = (clientId: string, version: number): UrlKey => ({
    version,
    key: keys(`delivery URLs of ${clientId}, ${version}`).toString('base64url'),
  })
  return {
    make,
    find: ({ id, urlKeys }, version) =>
      urlKeys?.active.some((one) => one.version === version) ? make(id, version).key : undefined,
    newest({ id, urlKeys }) {
      const version = urlKeys?.active.at(-1)?.version
      return version === undefined ? undefined : make(id, version)
    },
  }
}
