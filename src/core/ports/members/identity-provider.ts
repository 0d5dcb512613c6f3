/**
 * The identity provider of an organisation: it signs people in on pages of its own. A sign-in begins here, continues in the browser at
 * the provider, and ends here with the answer that the browser brings back.
 */
export interface IdentityProvider {
  /** The URL that identifies it. */
  readonly issuer: string
  /**
   * The URL at the provider to which the browser has to go.
   *
   * @param returnTo the URL to which the provider sends the browser afterwards
   * @throws IdentityProviderError `unavailable`
   */
  begin(returnTo: string): Promise<BegunAtProvider>
  /**
   * Checks the answer, and gets what the provider states about the person.
   *
   * @param answer `returnTo` with the query that the browser has brought back
   * @throws IdentityProviderError
   */
  finish(answer: URL, secrets: ProviderSecrets): Promise<Claims>
  /**
   * The URL at which the browser also signs out of the provider; undefined when the provider has none.
   *
   * @param returnTo the URL to which the provider sends the browser afterwards
   * @throws IdentityProviderError `unavailable`
   */
  signOutUrl(returnTo: string): Promise<string | undefined>
}

/** What one sign-in needs at its end. Only the browser that has begun it may have these. */
export interface ProviderSecrets {
  state: string
  nonce: string
  verifier: string
}

export interface BegunAtProvider {
  url: string
  secrets: ProviderSecrets
}

/** What a provider states about a person. Only `sub` is certain. */
export type Claims = Readonly<Record<string, unknown>> & { sub: string }

/** `unavailable`: no valid response in time; `denied`: refused by the provider or the person; `invalid`: another answer than expected. */
export type ProviderFailure = 'unavailable' | 'denied' | 'invalid'

/** A sign-in that the provider has not confirmed. Its message has no secrets. */
export class IdentityProviderError extends Error {
  readonly failure: ProviderFailure

  constructor(failure: ProviderFailure, message: string) {
    super(message)
    this.name = 'IdentityProviderError'
    this.failure = failure
  }
}
