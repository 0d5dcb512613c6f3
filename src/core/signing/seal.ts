import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
// The version of the format, so that a later one can be distinguished.
const KIND = 'v1.'

/**
 * Encrypts a text with AES-256-GCM. It can only be decrypted with the same key and place.
 *
 * @param key 32 bytes, for this purpose alone: nonces are random, which is safe for 2^32 texts
 * @param place the owner of the text: the same sealed text is invalid in any other place
 */
export function seal(text: string, { key, place }: { key: Buffer; place: string }): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${KIND}${sealed.toString('base64url')}`
}

/** A text that cannot be decrypted. */
export class SealError extends Error {}

/** Decrypts a text of {@link seal}. @throws SealError for another key or place, and for any changed or other text */
export function unseal(sealed: string, secret: { key: Buffer; place: string }): string {
  try {
    return decrypted(sealed, secret)
  } catch (cause) {
    throw new SealError((cause as Error).message, { cause })
  }
}

function decrypted(sealed: string, { key, place }: { key: Buffer; place: string }): string {
  const bytes = Buffer.from(sealed.startsWith(KIND) ? sealed.slice(KIND.length) : '', 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('expected a sealed text')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
