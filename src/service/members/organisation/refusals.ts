/**
 * Why a sign-in with the organisation was refused. The sign-in page has a text for each:
 *
 * - `unavailable`: the identity provider does not respond
 * - `denied`: the provider, or the person there, has refused it
 * - `expired`: it was begun too long ago, in another browser, or was completed already; or the answer belongs to another one
 * - `invalid`: the answer of the provider was not the expected one
 * - `role`: the person has no role in the console
 * - `email`: the provider states no email address
 * - `domain`: the email address is not of an allowed domain, or is not verified
 * - `taken`: another member has the email address, and the person cannot become this member
 * - `last-owner`: the email address is of the last owner with a password, who is never linked with a person
 * - `unverified`: the provider has not verified the email address of a new person
 * - `full`: there are too many members
 * - `busy`: too many attempts
 * - `failed`: another error of the service
 */
const REFUSALS = [
  'unavailable',
  'denied',
  'expired',
  'invalid',
  'role',
  'email',
  'domain',
  'taken',
  'last-owner',
  'unverified',
  'full',
  'busy',
  'failed',
] as const

export type Refusal = (typeof REFUSALS)[number]

/** A refused sign-in with the organisation. */
export class SignInRefused extends Error {
  readonly refusal: Refusal
  /** For the audit log. Undefined when it is not known who it is. */
  readonly person: { id?: string; name: string } | undefined

  constructor(
    refusal: Refusal,
    { person, ...options }: ErrorOptions & { person?: { id?: string; name: string } } = {},
  ) {
    super(`the sign-in was refused: ${refusal}`, options)
    this.name = 'SignInRefused'
    this.refusal = refusal
    this.person = person
  }
}
