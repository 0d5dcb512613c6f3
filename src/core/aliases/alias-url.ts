import type { Client } from '../clients/client.ts'
import { encodedPath, type ObjectKey, parseKey } from '../files/object-key.ts'

/** The delivery URL of an alias, for the type of this original. @param baseUrl without a trailing slash */
export function aliasUrl(
  name: string,
  { baseUrl, token, key }: { baseUrl: string; key: ObjectKey } & Pick<Client, 'token'>,
): string {
  const group = parseKey(key)?.format.group ?? 'application'
  return `${baseUrl}/v1/${group}/alias/${token}/${encodedPath(name)}`
}
