import { expect } from 'chai'
import { createChallenges } from '../../../../src/service/members/passkeys/challenges.ts'
import { ORIGIN, openPasskeys } from '../../../support/console/passkeys.ts'
import { rejection } from '../../../support/rejection.ts'

const MINUTE_MS = 60_000
const codeOf = async (promise: Promise<unknown>) => {
  const { status, code } = (await rejection(promise)) as { status?: number; code?: string }
  return `${status} ${code}`
}

describe('a sign-in with a passkey', () => {
  let opened: Awaited<ReturnType<typeof openPasskeys>>
  beforeEach(async () => {
    opened = await openPasskeys()
  })
  afterEach(() => opened.close())

  it('begins a session of the member, without an email address', async () => {
    const { join, add, use, own, clock, sessions, signIn } = opened
    const [ada, bob] = [await join('ada'), await join('bob')]
    const [phone, laptop] = [await add(ada), await add(bob)]
    clock.now += MINUTE_MS
    const { session, passkey } = await use(laptop.device)
    expect(session.member).to.include({ id: 'bob', isPasskeyOnly: false })
    expect(await sessions.find(session.token)).to.nested.include({ 'member.id': 'bob' })
    expect(passkey).to.deep.equal({ ...laptop.passkey, counter: 1, lastUsedAt: clock.now })
    expect(await own.list(bob)).to.deep.equal([passkey])
    expect(await own.list(ada)).to.deep.equal([phone.passkey])
    expect(signIn.memberOf(phone.passkey.credentialId)).to.include({ id: 'ada', name: 'ada' })
  })

  it('is refused for an answer to another page, request, member or person', async () => {
    const { join, add, use, log } = opened
    const [ada, bob] = [await join('ada'), await join('bob')]
    const { device } = await add(ada)
    const { passkey: ofBob } = await add(bob)
    for (const [changes, code] of [
      [{ origin: 'https://evil.example.com' }, 'wrong_passkey'],
      [{ rpId: 'evil.example.com' }, 'wrong_passkey'],
      [{ challenge: 'YW5vdGhlciBjaGFsbGVuZ2U' }, 'wrong_passkey'],
      [{ type: 'webauthn.create' }, 'wrong_passkey'],
      [{ userHandle: Buffer.from('bob').toString('base64url') }, 'wrong_passkey'],
      // Signed with another key.
      [{ id: ofBob.credentialId, userHandle: Buffer.from('bob').toString('base64url') }, 'wrong_passkey'],
      [{ id: 'dW5rbm93bg' }, 'unknown_passkey'],
      [{ isVerified: false }, 'passkey_unverified'],
    ] as const)
      expect(await codeOf(use(device, changes)), JSON.stringify(changes)).to.equal(`401 ${code}`)
    expect(log.lines.map(({ fields }) => fields.member)).to.deep.equal([
      ...['ada', 'ada', 'ada', 'ada', 'ada', 'bob', 'ada'],
    ])
    expect((await use(device)).session.member.id).to.equal('ada')
  })

  it('is refused when the counter does not grow, which means that there is a copy; 0 remains valid', async () => {
    const { join, add, use, log } = opened
    const ada = await join('ada')
    const { device } = await add(ada)
    for (const counter of [0, 0, 7, 8]) await use(device, { counter })
    for (const counter of [8, 7, 0]) {
      expect(await codeOf(use(device, { counter })), String(counter)).to.equal('401 wrong_passkey')
      expect(log.lines.at(-1)?.fields.reason).to.match(/counter of passkey \w+ is \d, after 8/)
    }
    expect((await use(device, { counter: 9 })).passkey.counter).to.equal(9)
  })

  it('is answered within five minutes, once, by the browser that has begun', async () => {
    const { join, add, signIn, begin, clock } = opened
    const ada = await join('ada')
    const { device } = await add(ada)
    const begun = signIn.begin(undefined)
    const answer = device.use(begun)
    await signIn.finish(answer, begun.cookie)
    expect(await codeOf(signIn.finish(answer, begun.cookie))).to.equal('410 challenge_expired')
    for (const cookie of [undefined, 'v1.AAAA', (await begin(ada)).cookie])
      expect(await codeOf(signIn.finish(answer, cookie))).to.equal('410 challenge_expired')
    const late = signIn.begin(undefined)
    expect(late.expiresAt).to.equal(clock.now + 5 * MINUTE_MS)
    clock.now = late.expiresAt
    expect(await codeOf(signIn.finish(device.use(late), late.cookie))).to.equal('410 challenge_expired')
    clock.now -= 1
    const { session } = await signIn.finish(device.use(late), late.cookie)
    expect(session.member.id).to.equal('ada')
  })

  it('uses up its challenge also when it is refused', async () => {
    const { join, add, signIn } = opened
    const { device } = await add(await join('ada'))
    const begun = signIn.begin(undefined)
    const wrong = signIn.finish(device.use(begun, { isVerified: false }), begun.cookie)
    expect(await codeOf(wrong)).to.equal('401 passkey_unverified')
    expect(await codeOf(signIn.finish(device.use(begun), begun.cookie))).to.equal('410 challenge_expired')
  })

  it('is only at the origin at which the passkey was added, also of one host', async () => {
    const { join, add, moveTo, use } = opened
    const { device } = await add(await join('ada'))
    for (const origin of ['https://old.example.com', `${ORIGIN}:8443`, ORIGIN.replace('https', 'http')]) {
      await moveTo(origin)
      expect(await codeOf(use(device)), origin).to.equal('401 unknown_passkey')
    }
    await moveTo(ORIGIN)
    expect((await use(device)).session.member.id).to.equal('ada')
  })
})

describe('the origin of passkeys', () => {
  const ledger = { find: async () => undefined, replace: async () => true }
  const begin = (origin: string | undefined, page: string | undefined) =>
    createChallenges({ origin, key: Buffer.alloc(32), ledger }).begin('sign-in', page)

  it('is that of BASE_URL, else that of the page, else unknown', () => {
    expect(begin(ORIGIN, 'http://localhost:3000')).to.include({ origin: ORIGIN, rpId: 'files.example.com' })
    expect(begin(undefined, 'http://localhost:3000')).to.include({
      origin: 'http://localhost:3000',
      rpId: 'localhost',
    })
    expect(() => begin(undefined, undefined))
      .to.throw()
      .with.property('code', 'unknown_origin')
  })

  it('is part of each challenge, which is random', () => {
    const [one, two] = [begin(ORIGIN, undefined), begin(ORIGIN, undefined)]
    expect(one.challenge).to.match(/^[\w-]{43}$/)
    expect(one.challenge).to.not.equal(two.challenge)
  })
})
