import { createHmac } from 'node:crypto'
import { newClientId } from '../../core/clients/client.ts'
import {
  isOfOrganisation,
  isPasskeyOnly,
  type Member,
  type MemberTable,
  OPERATOR_ID,
  type Role,
  type SessionState,
  type VisibleClients,
} from '../../core/members/member.ts'
import type { MemberStore } from '../../core/ports/members/member-store.ts'
import { createTokens } from './tokens.ts'

/** A person who is signed in: a member, or the operator with `ADMIN_PASSWORD`, who has no email address. */
export interface SignedIn {
  id: string
  email?: string
  name: string
  role: Role
  clients: VisibleClients
  /** Whether the person signs in with an identity provider alone. */
  isOfOrganisation: boolean
  /** Whether the person has passkeys and no password. */
  isPasskeyOnly: boolean
}

/** A valid session. Times are in milliseconds since 1970; `expiresAt` is exclusive. */
export interface MemberSession {
  id: string
  member: SignedIn
  begunAt: number
  expiresAt: number
  /** Changes whenever all sessions of the member end. */
  state: string
}

export interface NewSession extends MemberSession {
  /** The value of the cookie. */
  token: string
}

/** Sessions of members. A token is signed, so all processes accept it; the members decide whether it is still valid. */
export interface Sessions {
  /**
   * A new session of a member, or of the operator, who has just signed in.
   * @param table within a change, what it makes of the members; else the present ones
   * @throws Error when there is no such member
   */
  begin(memberId: string, table?: MemberTable): NewSession
  /** The same session after a change that ends all sessions of the member, as old as before. @param table what the change makes of the members */
  kept(session: MemberSession, table: MemberTable): NewSession
  /** Whether a session that a request began with is still valid, within a change of these members: another process may have ended it. */
  isCurrent(session: MemberSession, table: MemberTable): boolean
  /**
   * The session of a token; undefined when it is not valid. A promise only when this process may not know the newest state.
   * @throws Problem 503
   */
  find(token: string): MemberSession | undefined | Promise<MemberSession | undefined>
  /** The same session with a later expiry; undefined when it is too early, or the session may not last longer. */
  renewed(session: MemberSession): NewSession | undefined
  /** Ends one session, in all processes within seconds. @throws Problem 503 */
  end(session: MemberSession): Promise<void>
  /** Ends all sessions of the member. @throws Problem 503 */
  endAll(memberId: string): Promise<void>
}

interface Claims {
  /** Of the member. */
  m: string
  /** Of the session. */
  s: string
  begun: number
  until: number
  /** See `stateOf`. */
  state: string
}

const DAY_MS = 86_400_000
const SESSION_MS = 7 * DAY_MS
const RENEWED_AFTER_MS = DAY_MS
const LONGEST_MS = 30 * DAY_MS
const ORGANISATION_MS = DAY_MS / 2
// Beyond this number, all sessions of the member end instead.
const ENDED_MAX = 100

/**
 * @param options.key 32 bytes, used only for this purpose
 * @param options.operatorPassword undefined when the operator cannot sign in with one
 * @param options.issuer the identity provider; undefined: sessions of its members are invalid
 * @param options.organisationMs how long sessions of its members last: only a sign-in shows that they still have an account
 */
export function createSessions({
  store,
  key,
  operatorPassword,
  issuer,
  organisationMs = ORGANISATION_MS,
  now = Date.now,
}: {
  store: MemberStore
  key: Buffer
  operatorPassword: string | undefined
  issuer?: string | undefined
  organisationMs?: number | undefined
  now?: () => number
}): Sessions {
  const tokens = createTokens<Claims>({ key, prefix: 'ses' })

  /** Changes whenever all sessions of the member become invalid. With a key, since a password must not be guessed from it. */
  function stateOf(password: string, { generation }: SessionState): string {
    return createHmac('sha256', key)
      .update(`state:${generation}:${password}`)
      .digest('base64url')
      .slice(0, 16)
  }

  /** Who signs in with this ID at present, and the state of their sessions; undefined when there is no such member. */
  function present(
    id: string,
    { members, operatorSessions }: MemberTable = store.table(),
  ): { member: SignedIn; sessions: SessionState; state: string } | undefined {
    if (id === OPERATOR_ID) {
      if (operatorPassword === undefined) return undefined
      const state = stateOf(operatorPassword, operatorSessions)
      return { member: OPERATOR, sessions: operatorSessions, state }
    }
    const member = members.find((one) => one.id === id)
    const credential = member && credentialOf(member)
    if (!member || credential === undefined) return undefined
    const { sessions } = member
    return { member: signedIn(member, issuer), sessions, state: stateOf(credential, sessions) }
  }

  /** What a member signs in with; undefined when they cannot sign in. A change of it ends all sessions. */
  function credentialOf(member: Member): string | undefined {
    const { password, identity } = member
    if (password !== undefined) return password
    // A change to or from this state also changes the generation, or the credential itself.
    if (isPasskeyOnly(member)) return 'passkeys'
    // Without its issuer, which could refuse them, the members of an organisation have no access.
    if (!identity || identity.issuer !== issuer) return undefined
    return `identity:${identity.issuer} ${identity.subject}`
  }

  /** The member of a session, when it is valid. */
  function memberOf(id: string, state: string, memberId: string, table?: MemberTable): SignedIn | undefined {
    const current = present(memberId, table)
    if (current?.state !== state || current.sessions.ended.some((one) => one.id === id)) return undefined
    return current.member
  }

  function valid({ m, s: id, begun: begunAt, until: expiresAt, state }: Claims): MemberSession | undefined {
    const member = memberOf(id, state, m)
    return member && { id, member, begunAt, expiresAt, state }
  }

  function issued(
    session: Pick<MemberSession, 'id' | 'begunAt' | 'expiresAt'>,
    memberId: string,
    table?: MemberTable,
  ): NewSession {
    const current = present(memberId, table)
    if (!current) throw new Error(`no member ${memberId} can sign in`)
    const { id, begunAt, expiresAt } = session
    const { member, state } = current
    const token = tokens.sign({ m: memberId, s: id, begun: begunAt, until: expiresAt, state })
    return { id, member, begunAt, expiresAt, state, token }
  }

  return {
    begin(memberId, table) {
      const begunAt = now()
      const lasts = present(memberId, table)?.member.isOfOrganisation ? organisationMs : SESSION_MS
      return issued({ id: newClientId(), begunAt, expiresAt: begunAt + lasts }, memberId, table)
    },
    kept: (session, table) => issued(session, session.member.id, table),
    isCurrent: ({ id, state, member }, table) => memberOf(id, state, member.id, table) !== undefined,
    find(token) {
      const claims = tokens.read(token)
      if (!claims || now() >= claims.until) return undefined
      const session = valid(claims)
      if (session) return session
      // Another process may have issued it a moment ago, after a change that this one does not know yet.
      return store.refresh().then(() => valid(claims))
    },
    renewed({ id, member, begunAt, expiresAt }) {
      if (member.isOfOrganisation) return undefined
      const until = Math.min(now() + SESSION_MS, begunAt + LONGEST_MS)
      if (until < expiresAt + RENEWED_AFTER_MS) return undefined
      return issued({ id, begunAt, expiresAt: until }, member.id)
    },
    end: ({ id, member }) =>
      changeSessions(store, member.id, ({ generation, ended }) => {
        const left = ended.filter(({ until }) => until > now())
        if (left.length >= ENDED_MAX) return { generation: generation + 1, ended: [] }
        // A renewal by another process may have set a later expiry.
        return { generation, ended: [...left, { id, until: now() + SESSION_MS }] }
      }),
    endAll: (memberId) =>
      changeSessions(store, memberId, ({ generation }) => ({ generation: generation + 1, ended: [] })),
  }
}

const OPERATOR: SignedIn = {
  id: OPERATOR_ID,
  name: OPERATOR_ID,
  role: 'owner',
  clients: 'all',
  isOfOrganisation: false,
  isPasskeyOnly: false,
}

function signedIn(member: Member, issuer: string | undefined): SignedIn {
  const { id, email, name, role, clients } = member
  return {
    ...{ id, email, name, role, clients },
    isOfOrganisation: isOfOrganisation(member, issuer),
    isPasskeyOnly: isPasskeyOnly(member),
  }
}

function changeSessions(
  store: MemberStore,
  memberId: string,
  make: (sessions: SessionState) => SessionState,
): Promise<void> {
  return store.change((present) => ({ table: withSessions(present, memberId, make), result: undefined }))
}

function withSessions(
  table: MemberTable,
  memberId: string,
  make: (sessions: SessionState) => SessionState,
): MemberTable {
  if (memberId === OPERATOR_ID) return { ...table, operatorSessions: make(table.operatorSessions) }
  const members = table.members.map((one) =>
    one.id === memberId ? { ...one, sessions: make(one.sessions) } : one,
  )
  return { ...table, members }
}
