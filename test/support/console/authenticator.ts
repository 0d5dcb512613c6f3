import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'

/** A device that has passkeys, and the browser in front of it. Tests change what they state. */
export interface Authenticator {
  /** Creates a passkey, as `navigator.credentials.create` does. */
  create(options: CreationOptions, changes?: Changes): CreatedPasskey
  /** Signs with the last passkey, as `navigator.credentials.get` does. */
  use(options: RequestOptions, changes?: Changes): UsedPasskey
}

/** What the page states to the browser, in JSON. */
export interface CreationOptions {
  challenge: string
  rp: { id: string }
  user: { id: string }
}

export interface RequestOptions {
  challenge: string
  rpId: string
}

export interface CreatedPasskey {
  id: string
  clientDataJSON: string
  attestationObject: string
}

export interface UsedPasskey {
  id: string
  clientDataJSON: string
  authenticatorData: string
  signature: string
  userHandle: string
}

/** What differs from an honest answer. */
export interface Changes {
  origin?: string
  rpId?: string
  type?: string
  challenge?: string
  /** Whether the device has verified the person. */
  isVerified?: boolean
  counter?: number
  userHandle?: string
  /** The ID of a new passkey. */
  credentialId?: string
  /** The ID that the answer names. */
  id?: string
  /** The COSE number of the algorithm that the key states. */
  algorithm?: number
  /** The format of the attestation, and its statement. */
  attestation?: readonly [format: string, statement: ReadonlyMap<string, Encodable>]
}

// Flags of WebAuthn Level 3, section 6.1.
const PRESENT = 0x01
const VERIFIED = 0x04
const HAS_CREDENTIAL = 0x40
const ES256 = -7

/** @param origin of the page that the browser shows */
export function authenticator(origin: string): Authenticator {
  let credential: { id: Buffer; key: KeyObject; userHandle: string } | undefined
  let signed = 0

  const clientData = (type: string, challenge: string, changes: Changes) =>
    Buffer.from(
      JSON.stringify({
        type: changes.type ?? type,
        challenge: changes.challenge ?? challenge,
        origin: changes.origin ?? origin,
        crossOrigin: false,
      }),
    )
  function authenticatorData(rpId: string, flags: number, changes: Changes): Buffer {
    const verified = (changes.isVerified ?? true) ? VERIFIED : 0
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(changes.counter ?? signed)
    const hash = sha256(Buffer.from(changes.rpId ?? rpId))
    return Buffer.concat([hash, Buffer.from([flags | PRESENT | verified]), counter])
  }

  return {
    create({ challenge, rp, user }, changes = {}) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const id = changes.credentialId ? Buffer.from(changes.credentialId, 'base64url') : randomBytes(16)
      credential = { id, key: privateKey, userHandle: user.id }
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      // RFC 9052 section 7, and RFC 9053 section 7.1.1.
      const cose = new Map<number, Encodable>([
        [1, 2],
        [3, changes.algorithm ?? ES256],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ])
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const authData = Buffer.concat([
        authenticatorData(rp.id, HAS_CREDENTIAL, changes),
        Buffer.alloc(16),
        length,
        id,
        cbor(cose),
      ])
      const [format, statement] = changes.attestation ?? ['none', new Map()]
      const attestation = new Map<string, Encodable>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', authData],
      ])
      return {
        id: changes.id ?? id.toString('base64url'),
        clientDataJSON: clientData('webauthn.create', challenge, changes).toString('base64url'),
        attestationObject: cbor(attestation).toString('base64url'),
      }
    },
    use({ challenge, rpId }, changes = {}) {
      if (!credential) throw new Error('there is no passkey yet')
      signed += 1
      const data = authenticatorData(rpId, 0, changes)
      const client = clientData('webauthn.get', challenge, changes)
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(credential.key)
      return {
        id: changes.id ?? credential.id.toString('base64url'),
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: changes.userHandle ?? credential.userHandle,
      }
    },
  }
}

type Encodable =
  | number
  | string
  | Buffer
  | readonly Encodable[]
  | ReadonlyMap<number, Encodable>
  | ReadonlyMap<string, Encodable>

/** CBOR of these types. @see RFC 8949 section 3 */
function cbor(value: Encodable): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, one]) => [cbor(key), cbor(one)])])
  const items = [...(value as readonly Encodable[])]
  return Buffer.concat([head(4, items.length), ...items.map(cbor)])
}

function head(type: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(type << 5) | length])
  if (length < 0x100) return Buffer.from([(type << 5) | 24, length])
  return Buffer.from([(type << 5) | 25, length >> 8, length & 0xff])
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
