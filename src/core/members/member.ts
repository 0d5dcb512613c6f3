import type { Action } from '../clients/secret-scope.ts'

/** An email address, of which only the parts and the `@` between them are checked. */
export const EMAIL = /^[^\s@]+@[^\s@]+$/
/** Characters of an email address: the path of SMTP has 256, with its angle brackets. @see RFC 5321 section 4.5.3.1.3 */
export const EMAIL_MAX_LENGTH = 254
/** Characters of the name of a member. */
export const NAME_MAX_LENGTH = 100

/** The roles, with the fewest permissions first. */
export const ROLES = ['viewer', 'editor', 'owner'] as const

/** `viewer`: reads; `editor`: everything that a client's own secret permits; `owner`: also manages clients and members. */
export type Role = (typeof ROLES)[number]

/** The clients that a member may see: all, or these by ID. */
export type VisibleClients = 'all' | readonly string[]

/** A person who signs in to the console. */
export interface Member {
  /** 11 characters of base58, see `newClientId`. Never changes. */
  id: string
  /** Unique, as {@link foldedEmail} returns it. */
  email: string
  /** A display name. */
  name: string
  role: Role
  /** An owner always has `all`. */
  clients: VisibleClients
  /** Milliseconds since 1970. */
  createdAt: number
  /** The digest of the password; absent until the invitation is accepted, for members of an identity provider, and with passkeys alone. */
  password?: string
  /** The passkeys, the oldest first. Absent: none. */
  passkeys?: readonly Passkey[]
  /** Who the member is at the identity provider with which they sign in; absent when they have never done so. */
  identity?: Identity
  /** When the last invitation expires, in milliseconds since 1970; absent when it was accepted. */
  invitedUntil?: number
  sessions: SessionState
}

/** A key pair of which the member's device, or password manager, has the private key. @see https://www.w3.org/TR/webauthn-3/ */
export interface Passkey {
  /** 11 characters of base58, see `newClientId`. */
  id: string
  /** The ID that the device has chosen, of at most {@link CREDENTIAL_ID_MAX_BYTES}, in base64url. Unique among all members. */
  credentialId: string
  /** As a COSE key in base64url. */
  publicKey: string
  /** The origin of the page that has added it, at which alone it signs in. Browsers would also use it at other ports of the host. */
  origin: string
  /** How often it has signed, as the device counts it; 0 for devices that do not count. */
  counter: number
  /** A name that the member has chosen. */
  name: string
  /** Milliseconds since 1970. */
  createdAt: number
  /** Milliseconds since 1970; absent before the first sign-in. */
  lastUsedAt?: number
}

/** The maximum number of passkeys of a member. */
export const PASSKEYS_MAX = 10

/** The maximum length of a credential ID. @see WebAuthn Level 3, section 4, "Credential ID" */
export const CREDENTIAL_ID_MAX_BYTES = 1023

/** A person at an identity provider. The email address may change, or pass to another person; the subject never does. */
export interface Identity {
  /** The URL of the provider. */
  issuer: string
  subject: string
}

/** What decides which sessions of a member are valid. */
export interface SessionState {
  /** Incremented when all sessions end. */
  generation: number
  /** Sessions that were signed out and have not expired. `until`: milliseconds since 1970. */
  ended: ReadonlyArray<{ id: string; until: number }>
}

/** The state before the first session. */
export const NO_SESSIONS: SessionState = { generation: 0, ended: [] }

/** All members, and the sessions of the operator, who signs in with `ADMIN_PASSWORD` and is no member. */
export interface MemberTable {
  members: readonly Member[]
  operatorSessions: SessionState
}

/** The ID and the name of the operator who has signed in with `ADMIN_PASSWORD`. */
export const OPERATOR_ID = 'operator'

/** An email address as it is stored and compared: without spaces around it, in lower case. */
export function foldedEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

/** Whether a role permits this kind of request for a client's files. */
export function permits(role: Role, action: Action): boolean {
  return role !== 'viewer' || action === 'read'
}

/** Whether a member may see a client. */
export function isVisible(clients: VisibleClients, clientId: string): boolean {
  return clients === 'all' || clients.includes(clientId)
}

/** Whether a member can sign in without an identity provider. */
export function hasCredential({ password, passkeys = [] }: Pick<Member, 'password' | 'passkeys'>): boolean {
  return password !== undefined || passkeys.length > 0
}

/** Whether a member signs in with passkeys alone. */
export function isPasskeyOnly(member: Pick<Member, 'password' | 'passkeys'>): boolean {
  return member.password === undefined && hasCredential(member)
}

/** An owner who can sign in without an identity provider. An invited one may never accept. */
export function isActiveOwner(member: Member): boolean {
  return member.role === 'owner' && hasCredential(member)
}

/**
 * Whether a member signs in with this identity provider alone.
 *
 * @param issuer the configured one; undefined without one
 */
export function isOfOrganisation(member: Member, issuer: string | undefined): boolean {
  const { identity } = member
  return identity !== undefined && identity.issuer === issuer && !hasCredential(member)
}
