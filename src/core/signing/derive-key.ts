import { hkdfSync } from 'node:crypto'

/** Keys that are made of one secret, each for one purpose: whoever learns one knows nothing of the others. */
export type AppKeys = (purpose: string) => Buffer

/**
 * Keys of `APP_SECRET`, 32 bytes each.
 *
 * @see RFC 5869
 */
export function appKeys(appSecret: string): AppKeys {
  return (purpose) => Buffer.from(hkdfSync('sha256', appSecret, 'sluice', purpose, 32))
}
