import { newClientId } from '../../../core/clients/client.ts'
import {
  type Member,
  type MemberTable,
  OPERATOR_ID,
  PASSKEYS_MAX,
  type Passkey,
} from '../../../core/members/member.ts'
import type { MemberStore } from '../../../core/ports/members/member-store.ts'
import type { CreatedAnswer, PasskeyVerifier } from '../../../core/ports/members/passkey-verifier.ts'
import { hasNoPassword, noSuchMember, operatorHasNoRecord, wrongCurrentPassword } from '../member-problems.ts'
import type { Passwords } from '../passwords.ts'
import { isRecent, type MemberSession, type NewSession, type Sessions } from '../sessions.ts'
import type { BegunChallenge, Challenges } from './challenges.ts'
import {
  lastPasskey,
  noSuchPasskey,
  passkeyExists,
  signInAgain,
  tooManyPasskeys,
} from './passkey-problems.ts'
import type { RefuseAnswer } from './refuse-answer.ts'

/** The passkeys of the signed-in member. The caller limits how often passwords are tried. */
export interface OwnPasskeys {
  /** The oldest first. The operator has none. @throws Problem 503 */
  list(session: MemberSession): Promise<readonly Passkey[]>
  /**
   * Begins to add a passkey. A session of which the sign-in is older than ten minutes needs the current password.
   *
   * @param proof `page`: the origin of the page, when `BASE_URL` is unset
   * @throws Problem 400 for an unknown origin, 403, 409 for the operator, a member of the identity provider and too many passkeys, 503
   */
  begin(
    session: MemberSession,
    proof: { page: string | undefined; password: string | undefined },
  ): Promise<BegunPasskey>
  /**
   * Adds the passkey that the browser has created.
   *
   * @throws Problem 403 for an answer that is not verified, 409 for a known passkey and for too many, 410 for an expired or used challenge, 503
   */
  add(session: MemberSession, added: AddedPasskey): Promise<Passkey>
  /**
   * Removes a passkey. All other sessions of the member end: the lost device may have one.
   *
   * @returns the new session of this browser
   * @throws Problem 404, 409 for the last passkey of a member without a password, 503
   */
  remove(session: MemberSession, id: string): Promise<{ removed: Passkey; session: NewSession }>
}

export interface BegunPasskey extends BegunChallenge {
  member: Pick<Member, 'id' | 'email' | 'name'>
  /** The IDs that the devices have chosen for the passkeys of the member. */
  existing: readonly string[]
}

export interface AddedPasskey {
  name: string
  answer: CreatedAnswer
  /** Of the browser; undefined without one. */
  cookie: string | undefined
}

export function createOwnPasskeys({
  store,
  sessions,
  passwords,
  challenges,
  verifier,
  refuse,
  now = Date.now,
}: {
  store: MemberStore
  sessions: Pick<Sessions, 'begin'>
  passwords: Passwords
  challenges: Challenges
  verifier: PasskeyVerifier
  refuse: RefuseAnswer
  now?: () => number
}): OwnPasskeys {
  /** @throws Problem 404 when the member was removed in the meantime, 409 for the operator */
  function found({ members }: MemberTable, { member: { id } }: MemberSession): Member {
    if (id === OPERATOR_ID) throw operatorHasNoRecord()
    const member = members.find((one) => one.id === id)
    if (!member) throw noSuchMember(id)
    return member
  }

  /** Replaces the member. @throws what `make` throws; Problem 404, 409, 503 */
  function change<T>(
    session: MemberSession,
    make: (member: Member, table: MemberTable) => { changed: Member; result: T },
  ): Promise<T> {
    return store.change((table) => {
      const { changed, result } = make(found(table, session), table)
      const members = table.members.map((one) => (one.id === changed.id ? changed : one))
      return { table: { ...table, members }, result }
    })
  }

  return {
    async list(session) {
      await store.refresh()
      return session.member.id === OPERATOR_ID ? [] : (found(store.table(), session).passkeys ?? [])
    },
    async begin(session, { page, password }) {
      await store.refresh()
      const member = found(store.table(), session)
      // The organisation decides about their access.
      if (session.member.isOfOrganisation) throw hasNoPassword()
      const { passkeys = [] } = member
      if (passkeys.length >= PASSKEYS_MAX) throw tooManyPasskeys()
      if (password === undefined && !isRecent(session, now())) throw signInAgain()
      if (password !== undefined && !(await passwords.matches(password, member.password)))
        throw wrongCurrentPassword()
      return {
        ...challenges.begin({ addedBy: member.id }, page),
        member,
        existing: passkeys.map(({ credentialId }) => credentialId),
      }
    },
    async add(session, { name, answer, cookie }) {
      const { id: memberId } = found(store.table(), session)
      const expected = await challenges.use({ addedBy: memberId }, cookie)
      const credential = await verifier.created(answer, expected).catch(refuse(403, memberId))
      return change(session, (member, { members }) => {
        const isKnown = members.some((one) =>
          one.passkeys?.some((each) => each.credentialId === credential.id),
        )
        if (isKnown) throw passkeyExists()
        if (session.member.isOfOrganisation) throw hasNoPassword()
        const { passkeys = [] } = member
        if (passkeys.length >= PASSKEYS_MAX) throw tooManyPasskeys()
        const passkey: Passkey = {
          id: newClientId(),
          credentialId: credential.id,
          publicKey: credential.publicKey,
          rpId: expected.rpId,
          counter: credential.counter,
          name,
          createdAt: now(),
        }
        return { changed: { ...member, passkeys: [...passkeys, passkey] }, result: passkey }
      })
    },
    async remove(session, id) {
      const removed = await change(session, (member) => {
        const { passkeys = [], ...rest } = member
        const passkey = passkeys.find((one) => one.id === id)
        if (!passkey) throw noSuchPasskey()
        const left = passkeys.filter((one) => one !== passkey)
        if (left.length === 0 && member.password === undefined) throw lastPasskey()
        const sessionState = { generation: member.sessions.generation + 1, ended: [] }
        const changed: Member = {
          ...rest,
          ...(left.length > 0 ? { passkeys: left } : {}),
          sessions: sessionState,
        }
        return { changed, result: passkey }
      })
      return { removed, session: sessions.begin(session.member.id) }
    },
  }
}
