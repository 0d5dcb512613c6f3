import { newClientId } from '../../core/clients/client.ts'
import { foldedEmail, type Member, NO_SESSIONS, OPERATOR_ID } from '../../core/members/member.ts'
import type { MemberStore } from '../../core/ports/members/member-store.ts'
import { badParameter } from '../../core/problem.ts'
import type { AdminSessions } from '../admin/sessions.ts'
import { checkRecent } from './check-recent.ts'
import type { LastSeen } from './last-seen.ts'
import type { MemberLinks, ReadLink } from './links.ts'
import {
  hasNoPassword,
  noSuchMember,
  notSignedIn,
  operatorHasNoRecord,
  wrongCurrentPassword,
  wrongPassword,
} from './member-problems.ts'
import type { Challenges } from './passkeys/challenges.ts'
import { noPasskey, noPasswordLeft } from './passkeys/passkey-problems.ts'
import type { Passwords } from './passwords.ts'
import type { MemberSession, NewSession, Sessions } from './sessions.ts'

/** Signs people in, and changes what a member may change about themselves. The caller limits how often passwords are tried. */
export interface SignIn {
  /**
   * Signs in a member; without an email address the operator, with `ADMIN_PASSWORD`.
   * @throws Problem 401, 403 for the operator when no password is configured, 503 when too many calls wait
   */
  byPassword(credentials: { email?: string | undefined; password: string }): Promise<NewSession>
  /** The ID and the name of the member with this email address, for the audit log. */
  memberOf(email: string): Pick<Member, 'id' | 'name'> | undefined
  /** What a link is for. It remains valid. @throws Problem 410, 503 */
  readLink(token: string): Promise<ReadLink>
  /**
   * Sets the password that a link permits, which uses up the link, removes all passkeys, and signs in.
   * @throws Problem 400 for the first owner without an email address, 410, 503
   */
  byLink(token: string, choice: LinkChoice): Promise<NewSession>
  /**
   * Changes name or password of a signed-in member. A new password ends all other sessions, and so does its removal.
   * @returns after a change of the password: a new session, or the present one again when no current password was given; otherwise undefined
   * @throws Problem 400 for an unknown origin; 401 for a session that has ended in the meantime; 403 for a wrong current password, and for a
   *   sign-in with a passkey more than ten minutes ago; 409 for the operator, for a new password of a member of the identity provider, and for
   *   the removal of the password without a passkey for this origin, or without a password; 503
   */
  changeOwn(session: MemberSession, changes: OwnChanges): Promise<NewSession | undefined>
}

export interface LinkChoice {
  /** Of the first owner. Ignored for other links. */
  email?: string | undefined
  name?: string | undefined
  password: string
}

export interface OwnChanges {
  name?: string | undefined
  /**
   * `current`: ignored for a member without a password. `next`: null removes the password of a member who has passkeys. `page`: its origin,
   * when `BASE_URL` is unset.
   */
  newPassword?: { current: string; next: string | null; page: string | undefined } | undefined
}

export function createSignIn({
  store,
  sessions,
  links,
  passwords,
  adminSessions,
  challenges,
  lastSeen,
  now = Date.now,
}: {
  store: MemberStore
  sessions: Sessions
  links: MemberLinks
  passwords: Passwords
  adminSessions: Pick<AdminSessions, 'signIn'>
  challenges: Pick<Challenges, 'origin'>
  lastSeen: LastSeen
  now?: () => number
}): SignIn {
  const withEmail = (email: string) => store.table().members.find((one) => one.email === foldedEmail(email))

  /** The digest of a new password; null for its removal. @throws Problem 403, 409, 503 */
  async function checkedDigest(
    session: MemberSession,
    { current, next }: NonNullable<OwnChanges['newPassword']>,
  ): Promise<string | null> {
    const { id, isOfOrganisation, isPasskeyOnly } = session.member
    if (isOfOrganisation) throw hasNoPassword()
    if (isPasskeyOnly) {
      if (next === null) throw noPasswordLeft()
      checkRecent(session, now())
    } else {
      const member = store.table().members.find((one) => one.id === id)
      if (!(await passwords.matches(current, member?.password))) throw wrongCurrentPassword()
    }
    return next === null ? null : passwords.digest(next)
  }

  /** A member who signs in with passkeys alone, without the former sessions. @throws Problem 400; 409 without a passkey */
  function withoutPassword({ password: _, ...member }: Member, page: string | undefined): Member {
    const origin = challenges.origin(page)
    if (!member.passkeys?.some((one) => one.origin === origin)) throw noPasskey()
    return { ...member, sessions: { generation: member.sessions.generation + 1, ended: [] } }
  }

  function begin(memberId: string): NewSession {
    lastSeen.note(memberId)
    return sessions.begin(memberId)
  }

  return {
    async byPassword({ email, password }) {
      if (email === undefined) {
        adminSessions.signIn(password)
        return begin(OPERATOR_ID)
      }
      // Another process may have changed the password a moment ago.
      await store.refresh()
      const member = withEmail(email)
      if (!(await passwords.matches(password, member?.password)) || !member) throw wrongPassword()
      // The member may have been changed while the password was checked.
      if (withEmail(email)?.password !== member.password) throw wrongPassword()
      return begin(member.id)
    },
    memberOf: withEmail,
    async readLink(token) {
      await store.refresh()
      return links.read(token, store.table())
    },
    async byLink(token, { email, name, password }) {
      await store.refresh()
      const { purpose } = links.read(token, store.table())
      if (purpose === 'setup' && email === undefined)
        throw badParameter({ param: 'email', expected: 'an email address', received: email })
      const digest = await passwords.digest(password)
      // The link is read again within the change: of two requests with one link, the second one fails.
      const memberId = await store.change((table) => {
        const { member } = links.read(token, table)
        if (member) {
          // An identity is one of a former issuer: the password replaces it. Passkeys may be on a lost device, or of a thief.
          const { invitedUntil: _, identity: __, passkeys: ___, ...rest } = member
          const changed: Member = { ...rest, name: name ?? member.name, password: digest }
          const members = table.members.map((one) => (one.id === member.id ? changed : one))
          return { table: { ...table, members }, result: member.id }
        }
        const owner = firstOwner({ email: email ?? '', name, password: digest, createdAt: now() })
        // An invitation for the same person, from an operator with ADMIN_PASSWORD, is no longer needed.
        const others = table.members.filter((one) => one.email !== owner.email)
        return { table: { ...table, members: [...others, owner] }, result: owner.id }
      })
      return begin(memberId)
    },
    async changeOwn(session, { name, newPassword }) {
      const { id, isPasskeyOnly } = session.member
      if (id === OPERATOR_ID) throw operatorHasNoRecord()
      const digest = newPassword && (await checkedDigest(session, newPassword))
      const changedBy = (member: Member): Member => {
        const renamed = { ...member, name: name ?? member.name }
        if (digest === undefined) return renamed
        return digest === null
          ? withoutPassword(renamed, newPassword?.page)
          : { ...renamed, password: digest }
      }
      return store.change((table) => {
        if (!table.members.some((one) => one.id === id)) throw noSuchMember(id)
        // The session, and what was checked above, may be of a former state.
        if (!sessions.isCurrent(session, table)) throw notSignedIn()
        const members = table.members.map((one) => (one.id === id ? changedBy(one) : one))
        const after = { ...table, members }
        if (digest === undefined) return { table: after, result: undefined }
        // The current password is a sign-in. A passkey was used before.
        const result = isPasskeyOnly ? sessions.kept(session, after) : sessions.begin(id, after)
        return { table: after, result }
      })
    },
  }
}

function firstOwner({
  email,
  name,
  password,
  createdAt,
}: {
  email: string
  name: string | undefined
  password: string
  createdAt: number
}): Member {
  return {
    id: newClientId(),
    email: foldedEmail(email),
    name: name ?? nameIn(email),
    role: 'owner',
    clients: 'all',
    createdAt,
    password,
    sessions: NO_SESSIONS,
  }
}

/** The default name of a member: the part of the email address before the `@`. */
export function nameIn(email: string): string {
  return email.trim().replace(/@.*$/s, '')
}
