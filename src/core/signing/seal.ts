import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
// What follows is of this kind: a later one can be told from it.
const KIND = 'v1.'

/**
 * A text that only who has the key can read, and only in its own place.
 *
 * @param key 32 bytes, for this purpose alone: nonces are random, and good for 2^32 texts
 * @param place whose it is: elsewhere it cannot be read, by whomever it was put there
 */
export function seal(text: string, { key, place }: { key: Buffer; place: string }): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${KIND}${sealed.toString('base64url')}`
}

/** @throws Error for another key, another place, and what is not {@link seal}'s, or changed */
export function unseal(sealed: string, { key, place }: { key: Buffer; place: string }): string {
  const bytes = Buffer.from(sealed.startsWith(KIND) ? sealed.slice(KIND.length) : '', 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('expected a sealed text')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
