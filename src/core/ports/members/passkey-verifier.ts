/** Verifies what browsers answer to requests for passkeys: that the device has signed this answer, to this request, on this page. */
export interface PasskeyVerifier {
  /**
   * Verifies a new passkey. The device states no model or manufacturer, and nothing of it is read (attestation).
   *
   * @throws PasskeyRefused
   */
  created(answer: CreatedAnswer, expected: ExpectedAnswer): Promise<NewCredential>
  /**
   * Verifies the signature of a passkey. The counter is only returned, not compared.
   *
   * @param publicKey as {@link NewCredential} has it
   * @throws PasskeyRefused
   */
  used(answer: UsedAnswer, expected: ExpectedAnswer, publicKey: string): Promise<{ counter: number }>
}

/** What the browser has to answer. */
export interface ExpectedAnswer {
  /** 32 random bytes in base64url. */
  challenge: string
  /** The origin of the page, for example `https://files.example.com`. */
  origin: string
  /** The relying party ID: the host name of this origin. */
  rpId: string
}

/** The answer to `navigator.credentials.create`. All members are in base64url. */
export interface CreatedAnswer {
  id: string
  clientDataJSON: string
  attestationObject: string
}

/** The answer to `navigator.credentials.get`. All members are in base64url. */
export interface UsedAnswer {
  id: string
  clientDataJSON: string
  authenticatorData: string
  signature: string
  /** What the page has named the person when the passkey was created. */
  userHandle: string
}

/** All members are in base64url. */
export interface NewCredential {
  id: string
  /** A COSE key: ES256, EdDSA or RS256. */
  publicKey: string
  /** How often it has signed; 0 for devices that do not count. */
  counter: number
}

/** COSE numbers of the accepted algorithms, the preferred one first: EdDSA, ES256, RS256. @see RFC 9053 section 2 */
export const PASSKEY_ALGORITHMS = [-8, -7, -257] as const

/** `unverified`: the device has not verified the person, by PIN, fingerprint or face; `invalid`: another answer than expected. */
export type PasskeyFailure = 'unverified' | 'invalid'

/** An answer that was not verified. Its message is for the log. */
export class PasskeyRefused extends Error {
  readonly failure: PasskeyFailure

  constructor(failure: PasskeyFailure, message: string) {
    super(message)
    this.name = 'PasskeyRefused'
    this.failure = failure
  }
}
