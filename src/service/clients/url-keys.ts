import type { Client } from '../../core/clients/client.ts'
import type { AppKeys } from '../../core/signing/derive-key.ts'
import type { UrlKey } from '../../core/signing/signed-url.ts'

/** The keys that clients sign their delivery URLs with. Of each only that there is one is kept. */
export interface UrlKeys {
  /** Undefined for a version that does not count. */
  find(client: Client, version: number): string | undefined
  /** The newest one that counts; undefined where there is none. */
  newest(client: Client): UrlKey | undefined
  /** The one of a version, whether it counts or not. */
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
