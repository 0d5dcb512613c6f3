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
import { checkRecent } from '../check-recent.ts'
import { hasNoPassword, noSuchMember, notSignedIn, operatorHasNoRecord } from '../member-problems.ts'
import type { MemberSession, NewSession, Sessions } from '../sessions.ts'
import type { BegunChallenge, Challenges } from './challenges.ts'
import { lastPasskey, noSuchPasskey, passkeyExists, tooManyPasskeys } from './passkey-problems.ts'
import type { RefuseAnswer } from './refuse-answer.ts'

/**
 * The passkeys of the signed-in member. They are added and removed within ten minutes of the sign-in. `page` is the origin of the page,
 * which counts when `BASE_URL` is unset.
 */
export interface OwnPasskeys {
  /** The oldest first. The operator has none. @throws Problem 503 */
  list(session: MemberSession): Promise<readonly Passkey[]>
  /**
   * Begins to add a passkey.
   *
   * @throws Problem 400 for an unknown origin, 403, 409 for the operator, a member of the identity provider and too many passkeys, 503
   */
  begin(session: MemberSession, page: string | undefined): Promise<BegunPasskey>
  /**
   * Adds the passkey that the browser has created for this session.
   *
   * @throws Problem 401 for a session that has ended in the meantime, 403 for an answer that is not verified, 409 for a known passkey and
   *   for too many, 410 for an expired or used challenge, 503
   */
  add(session: MemberSession, added: AddedPasskey): Promise<Passkey>
  /**
   * Removes a passkey. All other sessions of the member end: the lost device may have one.
   *
   * @returns the session of this browser, as old as before
   * @throws Problem 400 for an unknown origin, 401 for a session that has ended in the meantime, 403, 404, 409 for the last passkey for this
   *   origin of a member without a password, 503
   */
  remove(
    session: MemberSession,
    id: string,
    page: string | undefined,
  ): Promise<{ removed: Passkey; session: NewSession }>
}

export interface BegunPasskey extends BegunChallenge {
  member: Pick<Member, 'id' | 'email' | 'name'>
  /** The IDs that the devices have chosen for the passkeys of the member for this origin. */
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
  challenges,
  verifier,
  refuse,
  now = Date.now,
}: {
  store: MemberStore
  sessions: Pick<Sessions, 'isCurrent' | 'kept'>
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

  /** Replaces the member. @throws what `make` throws; Problem 401, 404, 409, 503 */
  function change<T>(
    session: MemberSession,
    make: (member: Member, table: MemberTable) => { changed: Member; result: T },
  ): Promise<{ result: T; session: NewSession }> {
    return store.change((table) => {
      const before = found(table, session)
      if (!sessions.isCurrent(session, table)) throw notSignedIn()
      const { changed, result } = make(before, table)
      const members = table.members.map((one) => (one.id === changed.id ? changed : one))
      const after = { ...table, members }
      return { table: after, result: { result, session: sessions.kept(session, after) } }
    })
  }

  /** What a request to add a passkey is for: another session of the member cannot answer it. */
  const purposeOf = ({ id, member }: MemberSession) => ({ addedBy: member.id, session: id })

  return {
    async list(session) {
      await store.refresh()
      return session.member.id === OPERATOR_ID ? [] : (found(store.table(), session).passkeys ?? [])
    },
    async begin(session, page) {
      await store.refresh()
      const member = found(store.table(), session)
      // The organisation decides about their access.
      if (session.member.isOfOrganisation) throw hasNoPassword()
      const { passkeys = [] } = member
      if (passkeys.length >= PASSKEYS_MAX) throw tooManyPasskeys()
      checkRecent(session, now())
      const begun = challenges.begin(purposeOf(session), page)
      const existing = passkeys.filter(({ origin }) => origin === begun.origin)
      return { ...begun, member, existing: existing.map(({ credentialId }) => credentialId) }
    },
    async add(session, { name, answer, cookie }) {
      const { id: memberId } = found(store.table(), session)
      const expected = await challenges.use(purposeOf(session), cookie)
      const credential = await verifier.created(answer, expected).catch(refuse(403, memberId))
      const { result: added } = await change(session, (member, { members }) => {
        const isKnown = members.some((one) =>
          one.passkeys?.some((each) => each.credentialId === credential.id),
        )
        if (isKnown) throw passkeyExists()
        const { passkeys = [] } = member
        if (passkeys.length >= PASSKEYS_MAX) throw tooManyPasskeys()
        const passkey: Passkey = {
          id: newClientId(),
          credentialId: credential.id,
          publicKey: credential.publicKey,
          origin: expected.origin,
          counter: credential.counter,
          name,
          createdAt: now(),
        }
        return { changed: { ...member, passkeys: [...passkeys, passkey] }, result: passkey }
      })
      return added
    },
    async remove(session, id, page) {
      found(store.table(), session)
      checkRecent(session, now())
      const { result: removed, session: kept } = await change(session, (member) => {
        const { passkeys = [], ...rest } = member
        const passkey = passkeys.find((one) => one.id === id)
        if (!passkey) throw noSuchPasskey()
        const left = passkeys.filter((one) => one !== passkey)
        const opens = (one: Passkey) => one.origin === challenges.origin(page)
        if (member.password === undefined && !left.some(opens)) throw lastPasskey()
        const sessionState = { generation: member.sessions.generation + 1, ended: [] }
        const changed: Member = {
          ...rest,
          ...(left.length > 0 ? { passkeys: left } : {}),
          sessions: sessionState,
        }
        return { changed, result: passkey }
      })
      return { removed, session: kept }
    },
  }
}
