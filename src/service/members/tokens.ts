import { createHmac, timingSafeEqual } from 'node:crypto'

/** Texts that only this installation can create: claims as JSON, and their signature. */
export interface Tokens<T> {
  sign(claims: T): string
  /** The claims of a token; undefined for any other text. */
  read(token: string): T | undefined
}

// A token of ours has a few hundred characters.
const TOKEN_MAX_LENGTH = 1000

/** @param key 32 bytes, for one kind of token alone: then any validly signed claims are of this kind */
export function createTokens<T>({ key, prefix }: { key: Buffer; prefix: string }): Tokens<T> {
  const form = new RegExp(`^${prefix}_([\\w-]+)\\.([\\w-]{43})$`)
  const signature = (payload: string) => createHmac('sha256', key).update(payload).digest()
  return {
    sign(claims) {
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
      return `${prefix}_${payload}.${signature(payload).toString('base64url')}`
    },
    read(token) {
      if (token.length > TOKEN_MAX_LENGTH) return undefined
      const [, payload = '', received = ''] = form.exec(token) ?? []
      if (!timingSafeEqual(signature(payload), padded(received))) return undefined
      return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as T
    },
  }
}

/** The bytes of a signature. For any other text, bytes of the same length that no signature has. */
function padded(signature: string): Buffer {
  const bytes = Buffer.from(signature, 'base64url')
  return bytes.length === 32 ? bytes : Buffer.alloc(32)
}
