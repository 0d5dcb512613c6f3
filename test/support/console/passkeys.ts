import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { embeddedLedger } from '../../../src/adapters/ledger/embedded.ts'
import { bucketMemberStore } from '../../../src/adapters/member-store/bucket.ts'
import { simpleWebAuthn } from '../../../src/adapters/passkey-verifier/simplewebauthn.ts'
import type { Member } from '../../../src/core/members/member.ts'
import { createLastSeen } from '../../../src/service/members/last-seen.ts'
import { createMemberLinks } from '../../../src/service/members/links.ts'
import { createChallenges } from '../../../src/service/members/passkeys/challenges.ts'
import { type BegunPasskey, createOwnPasskeys } from '../../../src/service/members/passkeys/own-passkeys.ts'
import { createPasskeySignIn } from '../../../src/service/members/passkeys/passkey-sign-in.ts'
import { createRefuseAnswer } from '../../../src/service/members/passkeys/refuse-answer.ts'
import { createPasswords } from '../../../src/service/members/passwords.ts'
import { createSessions, type MemberSession } from '../../../src/service/members/sessions.ts'
import { createSignIn } from '../../../src/service/members/sign-in.ts'
import { aMember } from '../../contracts/member-store.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { recordLog } from '../texts/recorded-log.ts'
import { type Authenticator, authenticator, type Changes, type CreationOptions } from './authenticator.ts'
import { PASSWORD } from './browser.ts'

export const ORIGIN = 'https://files.example.com'
const SMALL_COST = { N: 1024, r: 8, p: 1 }

/** The services of passkeys on a disk, with a clock that tests move. */
export async function openPasskeys({ issuer }: { issuer?: string } = {}) {
  const folder = await temporaryFolder()
  const buckets = await diskBuckets({ folder, urlOf: (key) => key })
  const log = recordLog()
  const store = await bucketMemberStore(buckets.of({ id: 'first', token: '' }), { key: randomBytes(32), log })
  const clock = { now: 1_800_000_000_000 }
  const now = () => clock.now
  const ledger = await embeddedLedger(join(folder, 'ledger'), { now })
  const passwords = createPasswords({ cost: SMALL_COST })
  const sessions = createSessions({
    ...{ store, now, issuer },
    key: randomBytes(32),
    operatorPassword: 'the operator password',
  })
  const links = createMemberLinks({ key: randomBytes(32), now })
  const lastSeen = createLastSeen({ ledger, log, now })
  const shared = {
    ...{ store, sessions, lastSeen, now },
    challenges: createChallenges({ origin: ORIGIN, key: randomBytes(32), ledger, now }),
    verifier: simpleWebAuthn(),
    refuse: createRefuseAnswer(log),
  }
  const own = createOwnPasskeys(shared)
  const signIn = createPasskeySignIn(shared)
  const adminSessions = {
    signIn: () => {
      throw new Error('no operator signs in here')
    },
  }

  /** A member with a password. */
  async function joined(name: string, changes: Partial<Member> = {}): Promise<MemberSession> {
    const { invitedUntil: _, ...one } = aMember(name)
    const member: Member = { ...one, password: await passwords.digest(PASSWORD), ...changes }
    await store.change((table) => ({
      table: { ...table, members: [...table.members, member] },
      result: undefined,
    }))
    return sessions.begin(name)
  }

  const options = ({ challenge, rpId, member }: BegunPasskey): CreationOptions => ({
    challenge,
    rp: { id: rpId },
    user: { id: Buffer.from(member.id).toString('base64url') },
  })
  const begin = (session: MemberSession) => own.begin(session, undefined)

  return {
    ...{ own, signIn, sessions, store, clock, log, begin, options },
    join: joined,
    links,
    passwordSignIn: createSignIn({ ...shared, links, passwords, adminSessions }),
    /** Adds a passkey of a new device. */
    async add(session: MemberSession, changes: Changes = {}, device: Authenticator = authenticator(ORIGIN)) {
      const begun = await begin(session)
      const answer = device.create(options(begun), changes)
      const passkey = await own.add(session, { name: 'Phone', answer, cookie: begun.cookie })
      return { device, passkey, begun, answer }
    },
    /** Signs in with the passkey of a device. */
    async use(device: Authenticator, changes: Changes = {}) {
      const begun = signIn.begin(undefined)
      return signIn.finish(device.use(begun, changes), begun.cookie)
    },
    /** As if all passkeys had been added at another address. */
    moveTo: (origin: string) =>
      store.change((table) => {
        const moved = (one: Member) => ({
          ...one,
          ...(one.passkeys ? { passkeys: one.passkeys.map((each) => ({ ...each, origin })) } : {}),
        })
        return { table: { ...table, members: table.members.map(moved) }, result: undefined }
      }),
    member: (name: string) => store.table().members.find(({ id }) => id === name),
    async close() {
      await ledger.close()
      await rm(folder, { recursive: true })
    },
  }
}
