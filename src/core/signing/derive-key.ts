import { hkdfSync } from 'node:crypto'

/** Derives one key per purpose from a secret. A key does not reveal the others. */
export type AppKeys = (purpose: string) => Buffer

/**
 * Derives keys from `APP_SECRET`, 32 bytes each.
 *
 * @see RFC 5869
 */
export function appKeys(appSecret: string): AppKeys {
  return (purpose) => Buffer.from(hkdfSync('sha256', appSecret, 'sluice', purpose, 32))
}
