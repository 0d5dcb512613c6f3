import { createHmac } from 'node:crypto'
import { hasCredential, isPasskeyOnly, type Member, type MemberTable } from '../../core/members/member.ts'
import { linkExpired } from './member-problems.ts'
import { createTokens } from './tokens.ts'

/** `setup`: creates the first owner; `invitation`: chooses the first password of a member; `reset`: another password, in place of all passkeys. */
export type LinkPurpose = 'setup' | 'invitation' | 'reset'

/** A valid link. `member` is absent for `setup`. `expiresAt` is in milliseconds since 1970, exclusive. */
export interface ReadLink {
  purpose: LinkPurpose
  member?: Member
  expiresAt: number
}

/** Links by which a person chooses a password. Nothing is stored about them: a link is valid while its state is. */
export interface MemberLinks {
  /** A link that creates the first owner. It is valid while there is no member who can sign in without an identity provider. */
  setup(table: MemberTable, expiresAt: number): IssuedLink
  /** A link for a member. It is valid until the password of the member changes, or the member is invited again; without a password also until all sessions end. */
  of(member: Member, expiresAt: number): IssuedLink
  /** @throws Problem 410 for a link that was used, has expired, or was never issued */
  read(token: string, table: MemberTable): ReadLink
}

export interface IssuedLink {
  /** The token of the link: the part of the URL after `#`. */
  token: string
  /** Milliseconds since 1970, exclusive. */
  expiresAt: number
}

interface Claims {
  /** The ID of the member; absent for the first owner. */
  m?: string
  until: number
  state: string
}

/** @param options.key 32 bytes, used only for this purpose */
export function createMemberLinks({ key, now = Date.now }: { key: Buffer; now?: () => number }): MemberLinks {
  const tokens = createTokens<Claims>({ key, prefix: 'lnk' })

  /** Changes when a link is used: each use stores a new digest, whose salt is random. For an invited member also with each invitation. */
  function stateOf(member: Member | undefined): string {
    const ofMember = (one: Member) => {
      const { password, invitedUntil, identity, sessions } = one
      if (password !== undefined) return `member:${password}`
      // All sessions end whenever a member gives up the password, so an earlier state never returns.
      if (isPasskeyOnly(one)) return `passkeys:${sessions.generation}`
      const person = identity ? `:${identity.issuer} ${identity.subject}` : ''
      return `invitation:${invitedUntil}${person}`
    }
    const state = member ? ofMember(member) : 'setup'
    return createHmac('sha256', key).update(state).digest('base64url').slice(0, 22)
  }

  function issue(member: Member | undefined, expiresAt: number): IssuedLink {
    const claims: Claims = { until: expiresAt, state: stateOf(member) }
    return { token: tokens.sign(member ? { ...claims, m: member.id } : claims), expiresAt }
  }

  return {
    setup(table, expiresAt) {
      if (isSetUp(table)) throw linkExpired()
      return issue(undefined, expiresAt)
    },
    of: issue,
    read(token, table) {
      const claims = tokens.read(token)
      if (!claims || now() >= claims.until) throw linkExpired()
      const { m: memberId, until: expiresAt, state } = claims
      const member = table.members.find(({ id }) => id === memberId)
      const isCurrent = memberId === undefined ? !isSetUp(table) : member !== undefined
      if (!isCurrent || state !== stateOf(member)) throw linkExpired()
      if (!member) return { purpose: 'setup', expiresAt }
      return { purpose: hasCredential(member) ? 'reset' : 'invitation', member, expiresAt }
    },
  }
}

/** Whether a member can sign in without an identity provider. */
export function isSetUp({ members }: MemberTable): boolean {
  return members.some(hasCredential)
}
