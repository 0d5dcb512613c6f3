import { UNSEEN_CHARACTER } from '../../../core/files/relative-path.ts'
import { grantedRole, type RoleRule, textsOfClaim } from '../../../core/members/claims.ts'
import {
  EMAIL,
  EMAIL_MAX_LENGTH,
  foldedEmail,
  type Identity,
  NAME_MAX_LENGTH,
  type Role,
} from '../../../core/members/member.ts'
import type { Claims } from '../../../core/ports/members/identity-provider.ts'
import { nameIn } from '../sign-in.ts'
import { SignInRefused } from './refusals.ts'

/** Who may sign in, and with which role. */
export interface OrganisationRules {
  /** The claim with groups or roles. */
  roleClaim: string
  roles: readonly RoleRule[]
  /** Domains of email addresses, in lower case. Undefined: all. */
  emailDomains: readonly string[] | undefined
  /** Whether people whose address the provider has not verified become members. */
  isUnverifiedAllowed: boolean
}

/** A person whom the identity provider has confirmed. */
export interface Person {
  identity: Identity
  /** As `foldedEmail` returns it. */
  email: string
  /** Whether the provider knows that the address belongs to the person. */
  isEmailVerified: boolean
  name: string
  /** Undefined: the person may not sign in. */
  role: Role | undefined
}

// The maximum of OpenID Connect Core, section 2.
const SUBJECT_MAX_LENGTH = 255

/** The claims that are needed for a sign-in. */
export function wantedClaims({ roleClaim }: Pick<OrganisationRules, 'roleClaim'>): string[] {
  return ['email', 'email_verified', 'name', roleClaim.split('.')[0] ?? roleClaim]
}

/** @throws SignInRefused `invalid`, `email`, `domain` */
export function personOf(
  claims: Claims,
  { issuer, rules }: { issuer: string; rules: OrganisationRules },
): Person {
  if (claims.sub.length > SUBJECT_MAX_LENGTH) throw new SignInRefused('invalid')
  const email = textOf(claims.email)
  if (!EMAIL.test(email) || email.length > EMAIL_MAX_LENGTH || UNSEEN_CHARACTER.test(email))
    throw new SignInRefused('email')
  // Folding turns some other letters into ASCII letters: the result is another address than the verified one.
  const isFoldedAsAscii = foldedEmail(email) === email.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  // Some providers state it as a text.
  const isStated = claims.email_verified === true || claims.email_verified === 'true'
  const isEmailVerified = isStated && isFoldedAsAscii
  const domain = foldedEmail(email).replace(/^.*@/s, '')
  const isAllowed = !rules.emailDomains || (isEmailVerified && rules.emailDomains.includes(domain))
  if (!isAllowed) throw new SignInRefused('domain', { person: { name: foldedEmail(email) } })
  return {
    identity: { issuer, subject: claims.sub },
    email: foldedEmail(email),
    isEmailVerified,
    name: nameOf(claims) || nameIn(email),
    role: grantedRole(textsOfClaim(claims, rules.roleClaim), rules.roles),
  }
}

/** The name as a member may have it; empty when there is none. */
function nameOf({ name, preferred_username: username }: Claims): string {
  const characters = [...(textOf(name) || textOf(username))].filter((each) => !UNSEEN_CHARACTER.test(each))
  return characters.join('').trim().slice(0, NAME_MAX_LENGTH)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
