import type * as server from '@simplewebauthn/server'
import type { Uint8Array_ } from '@simplewebauthn/server'
import type * as helpers from '@simplewebauthn/server/helpers'
import {
  type CreatedAnswer,
  type ExpectedAnswer,
  type NewCredential,
  PASSKEY_ALGORITHMS,
  PasskeyRefused,
  type PasskeyVerifier,
  type UsedAnswer,
} from '../../core/ports/members/passkey-verifier.ts'

// A key of RS256 with 8,192 bits has 1,039. Members are in one object, so a larger one must not be stored.
const PUBLIC_KEY_MAX_BYTES = 1100

type Library = Pick<typeof server, 'verifyRegistrationResponse' | 'verifyAuthenticationResponse'> &
  Pick<typeof helpers, 'decodeAttestationObject' | 'isoCBOR'>

/**
 * Passkeys by `@simplewebauthn/server`.
 *
 * @param load called at the first answer: the library takes memory and time that few processes need
 */
export function simpleWebAuthn(load: () => Promise<Library> = loadLibrary): PasskeyVerifier {
  // A library that cannot be loaded is no fault of the answer.
  return {
    async created(answer, expected) {
      const library = await load()
      return checked(() => created(library, answer, expected))
    },
    async used(answer, expected, publicKey) {
      const library = await load()
      return checked(() => used(library, answer, expected, publicKey))
    },
  }
}

async function loadLibrary(): Promise<Library> {
  return { ...(await import('@simplewebauthn/server')), ...(await import('@simplewebauthn/server/helpers')) }
}

async function created(
  library: Library,
  { id, clientDataJSON, attestationObject }: CreatedAnswer,
  { challenge, origin, rpId }: ExpectedAnswer,
): Promise<NewCredential> {
  const { registrationInfo } = await library.verifyRegistrationResponse({
    response: {
      ...publicKeyCredential(id),
      response: { clientDataJSON, attestationObject: withoutStatement(library, attestationObject) },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: false,
    supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
  })
  if (!registrationInfo) throw new PasskeyRefused('invalid', 'the answer was not verified')
  const { credential, userVerified } = registrationInfo
  checkVerified(userVerified)
  if (credential.id !== id) throw new PasskeyRefused('invalid', 'the answer is of another passkey')
  if (credential.publicKey.length > PUBLIC_KEY_MAX_BYTES)
    throw new PasskeyRefused('invalid', `the public key has ${credential.publicKey.length} bytes`)
  const publicKey = Buffer.from(credential.publicKey).toString('base64url')
  return { id, publicKey, counter: credential.counter }
}

async function used(
  { verifyAuthenticationResponse }: Library,
  { id, clientDataJSON, authenticatorData, signature, userHandle }: UsedAnswer,
  { challenge, origin, rpId }: ExpectedAnswer,
  publicKey: string,
): Promise<{ counter: number }> {
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      ...publicKeyCredential(id),
      response: { clientDataJSON, authenticatorData, signature, userHandle },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: false,
    // The caller compares the counter.
    credential: { id, publicKey: bytesOf(publicKey), counter: 0 },
  })
  if (!verified) throw new PasskeyRefused('invalid', 'the signature is wrong')
  checkVerified(authenticationInfo.userVerified)
  return { counter: authenticationInfo.newCounter }
}

function publicKeyCredential(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
}

/**
 * The answer without its attestation statement, which was not requested. The library would verify one that a caller adds, with
 * requests to addresses that its certificates name.
 */
function withoutStatement({ decodeAttestationObject, isoCBOR }: Library, attestationObject: string): string {
  const authData = decodeAttestationObject(bytesOf(attestationObject)).get('authData')
  const without = new Map<string, string | Map<string, never> | Uint8Array_>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, never>()],
    ['authData', authData],
  ])
  return Buffer.from(isoCBOR.encode(without)).toString('base64url')
}

function bytesOf(base64url: string): Uint8Array_ {
  return new Uint8Array(Buffer.from(base64url, 'base64url'))
}

function checkVerified(isUserVerified: boolean): void {
  if (!isUserVerified) throw new PasskeyRefused('unverified', 'the device has not verified the person')
}

/** The library throws errors of no type of its own. */
async function checked<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify()
  } catch (error) {
    if (error instanceof PasskeyRefused) throw error
    throw new PasskeyRefused('invalid', error instanceof Error ? error.message : String(error))
  }
}
