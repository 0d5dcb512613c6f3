import type { Member, MemberTable, Passkey } from '../../../core/members/member.ts'
import type { MemberStore } from '../../../core/ports/members/member-store.ts'
import {
  PasskeyRefused,
  type PasskeyVerifier,
  type UsedAnswer,
} from '../../../core/ports/members/passkey-verifier.ts'
import type { LastSeen } from '../last-seen.ts'
import type { NewSession, Sessions } from '../sessions.ts'
import type { BegunChallenge, Challenges } from './challenges.ts'
import { unknownPasskey } from './passkey-problems.ts'
import type { RefuseAnswer } from './refuse-answer.ts'

/** Sign-in with a passkey, for which no email address is entered. The caller limits how often it is tried. */
export interface PasskeySignIn {
  /** Begins a sign-in. @param page the origin of the page, when `BASE_URL` is unset. @throws Problem 400 for an unknown origin */
  begin(page: string | undefined): BegunChallenge
  /**
   * Signs in the member whose passkey has answered.
   *
   * @param cookie of the browser; undefined without one
   * @throws Problem 401 for an unknown passkey, and for an answer that is not verified; 410 for an expired or used challenge; 503
   */
  finish(answer: UsedAnswer, cookie: string | undefined): Promise<{ session: NewSession; passkey: Passkey }>
  /** The ID and the name of the member whose passkey this is, for the audit log. */
  memberOf(credentialId: string): Pick<Member, 'id' | 'name'> | undefined
}

export function createPasskeySignIn({
  store,
  sessions,
  challenges,
  verifier,
  refuse,
  lastSeen,
  now = Date.now,
}: {
  store: MemberStore
  sessions: Pick<Sessions, 'begin'>
  challenges: Challenges
  verifier: PasskeyVerifier
  refuse: RefuseAnswer
  lastSeen: LastSeen
  now?: () => number
}): PasskeySignIn {
  /** Notes the use of a passkey, when its member still has it, and begins a session. @throws Problem 401; PasskeyRefused */
  function noteUse(known: Owned, counter: number): Promise<{ session: NewSession; passkey: Passkey }> {
    return store.change((table) => {
      const { member, passkey } = owned(table, known.passkey.credentialId) ?? {}
      if (!member || !passkey || passkey.publicKey !== known.passkey.publicKey) throw unknownPasskey()
      checkCounter(passkey, counter)
      const used: Passkey = { ...passkey, counter, lastUsedAt: now() }
      const passkeys = member.passkeys?.map((one) => (one === passkey ? used : one)) ?? []
      const members = table.members.map((one) => (one === member ? { ...member, passkeys } : one))
      const after = { ...table, members }
      return { table: after, result: { session: sessions.begin(member.id, after), passkey: used } }
    })
  }

  return {
    begin: (page) => challenges.begin('sign-in', page),
    async finish(answer, cookie) {
      await store.refresh()
      const known = owned(store.table(), answer.id)
      // Before the use of the challenge is stored: anyone can send a passkey of nobody.
      if (!known) throw unknownPasskey()
      const expected = await challenges.use('sign-in', cookie)
      // Another port of the host may be another service, which could pass on what a browser has signed for it.
      if (known.passkey.origin !== expected.origin) throw unknownPasskey()
      const { member, passkey } = known
      const refused = refuse(401, member.id)
      const { counter } = await verifier.used(answer, expected, passkey.publicKey).catch(refused)
      if (Buffer.from(answer.userHandle, 'base64url').toString() !== member.id)
        return refused(new PasskeyRefused('invalid', 'the user handle is of another member'))
      const signedIn = await noteUse(known, counter).catch(refused)
      lastSeen.note(member.id)
      return signedIn
    },
    memberOf: (credentialId) => owned(store.table(), credentialId)?.member,
  }
}

interface Owned {
  member: Member
  passkey: Passkey
}

function owned({ members }: MemberTable, credentialId: string): Owned | undefined {
  for (const member of members)
    for (const passkey of member.passkeys ?? [])
      if (passkey.credentialId === credentialId) return { member, passkey }
  return undefined
}

/** A counter that does not grow means that there is a copy of the private key. Devices that synchronize their passkeys do not count. */
function checkCounter({ id, counter: last }: Passkey, counter: number): void {
  if (counter > last || (counter === 0 && last === 0)) return
  throw new PasskeyRefused(
    'invalid',
    `the counter of passkey ${id} is ${counter}, after ${last}: it may have a copy`,
  )
}
