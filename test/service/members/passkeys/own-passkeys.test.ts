import { expect } from 'chai'
import { authenticator } from '../../../support/console/authenticator.ts'
import { PASSWORD } from '../../../support/console/browser.ts'
import { ORIGIN, openPasskeys } from '../../../support/console/passkeys.ts'
import { rejection } from '../../../support/rejection.ts'

const MINUTE_MS = 60_000
const codeOf = async (promise: Promise<unknown>) => {
  const { status, code } = (await rejection(promise)) as { status?: number; code?: string }
  return `${status} ${code}`
}

describe('the passkeys of a member', () => {
  let opened: Awaited<ReturnType<typeof openPasskeys>>
  beforeEach(async () => {
    opened = await openPasskeys()
  })
  afterEach(() => opened.close())

  it('are added, listed and removed, which ends the other sessions', async () => {
    const { own, join, add, sessions, clock, use } = opened
    const ada = await join('ada')
    const other = sessions.begin('ada')
    const { passkey, device } = await add(ada)
    expect(passkey).to.include({ name: 'Phone', counter: 0, origin: ORIGIN, createdAt: clock.now })
    expect(await own.list(ada)).to.deep.equal([passkey])
    expect(await sessions.find(other.token)).to.be.an('object')
    const { removed, session } = await own.remove(ada, passkey.id, undefined)
    expect(removed).to.deep.equal(passkey)
    expect(await sessions.find(other.token)).to.equal(undefined)
    expect(await sessions.find(session.token)).to.nested.include({ 'member.id': 'ada' })
    expect(await own.list(ada)).to.deep.equal([])
    expect(opened.member('ada')).to.not.have.property('passkeys')
    expect(await codeOf(use(device))).to.equal('401 unknown_passkey')
    expect(await codeOf(own.remove(session, passkey.id, undefined))).to.equal('404 passkey_not_found')
  })

  it('are refused when the answer is for another page, request or person', async () => {
    const { join, add, own, log } = opened
    const ada = await join('ada')
    for (const [changes, code] of [
      [{ origin: 'https://evil.example.com' }, 'wrong_passkey'],
      [{ origin: 'http://files.example.com' }, 'wrong_passkey'],
      [{ rpId: 'example.com' }, 'wrong_passkey'],
      [{ challenge: 'YW5vdGhlciBjaGFsbGVuZ2U' }, 'wrong_passkey'],
      [{ type: 'webauthn.get' }, 'wrong_passkey'],
      [{ id: 'YW5vdGhlciBpZA' }, 'wrong_passkey'],
      [{ algorithm: -36 }, 'wrong_passkey'],
      [{ isVerified: false }, 'passkey_unverified'],
    ] as const)
      expect(await codeOf(add(ada, changes)), JSON.stringify(changes)).to.equal(`403 ${code}`)
    expect(await own.list(ada)).to.deep.equal([])
    expect(log.lines).to.have.length(8)
    expect(log.lines[0]).to.nested.include({ level: 'warn', 'fields.member': 'ada' })
  })

  it('are added without their attestation, whose certificates name addresses', async () => {
    const { join, add } = opened
    const statement = new Map([['x5c', [Buffer.from('not a certificate')]]])
    const { passkey } = await add(await join('ada'), { attestation: ['packed', statement] })
    expect(passkey.name).to.equal('Phone')
  })

  it('are added within five minutes, once, by the session and the browser that have begun', async () => {
    const { join, add, own, begin, options, clock } = opened
    const [ada, bob] = [await join('ada'), await join('bob')]
    const { begun, answer } = await add(ada)
    const cookie: string = begun.cookie
    const added = { name: 'Again', answer, cookie }
    expect(await codeOf(own.add(ada, added))).to.equal('410 challenge_expired')
    for (const [session, sent] of [
      [bob, (await begin(ada)).cookie],
      [ada, undefined],
      [ada, 'v1.AAAA'],
      [ada, (await begin(opened.sessions.begin('ada'))).cookie],
      [ada, opened.signIn.begin(undefined).cookie],
    ] as const)
      expect(await codeOf(own.add(session, { ...added, cookie: sent }))).to.equal('410 challenge_expired')
    for (const [later, code] of [
      [5 * MINUTE_MS, '410 challenge_expired'],
      [5 * MINUTE_MS - 1, undefined],
    ] as const) {
      const late = await begin(ada)
      const made = authenticator(ORIGIN).create(options(late))
      clock.now += later
      const adding = own.add(ada, { name: 'Late', answer: made, cookie: late.cookie })
      if (code) expect(await codeOf(adding)).to.equal(code)
      else expect((await adding).name).to.equal('Late')
    }
  })

  it('are of one member', async () => {
    const { join, add, own, begin, options } = opened
    const [ada, bob] = [await join('ada'), await join('bob')]
    const { device, passkey } = await add(ada)
    const begun = await begin(bob)
    // The key may differ: what counts is the ID, by which a sign-in finds the member.
    const answer = device.create(options(begun), { credentialId: passkey.credentialId })
    const adding = own.add(bob, { name: 'Copy', answer, cookie: begun.cookie })
    expect(await codeOf(adding)).to.equal('409 passkey_exists')
    expect(await codeOf(own.remove(bob, passkey.id, undefined))).to.equal('404 passkey_not_found')
    expect(await own.list(ada)).to.have.length(1)
  })

  it('are ten at most', async () => {
    const { join, add, own, begin, options } = opened
    const ada = await join('ada')
    const first = await begin(ada)
    for (let n = 1; n <= 10; n += 1) await add(ada)
    expect(await codeOf(begin(ada))).to.equal('409 too_many_passkeys')
    const answer = authenticator(ORIGIN).create(options(first))
    const adding = own.add(ada, { name: 'Eleventh', answer, cookie: first.cookie })
    expect(await codeOf(adding)).to.equal('409 too_many_passkeys')
    expect(await own.list(ada)).to.have.length(10)
  })

  it('are added and removed within ten minutes of the sign-in', async () => {
    const { join, begin, add, own, clock, sessions } = opened
    const ada = await join('ada')
    const [first, second] = [await add(ada), await add(ada)]
    clock.now += 10 * MINUTE_MS - 1
    await begin(ada)
    // The session that remains is as old as before.
    const { session } = await own.remove(ada, first.passkey.id, undefined)
    expect(session).to.include({ id: ada.id, begunAt: ada.begunAt, expiresAt: ada.expiresAt })
    await begin(session)
    clock.now += 1
    expect(await codeOf(begin(session))).to.equal('403 sign_in_again')
    expect(await codeOf(own.remove(session, second.passkey.id, undefined))).to.equal('403 sign_in_again')
    const { existing } = await begin(sessions.begin('ada'))
    expect(existing).to.deep.equal([second.passkey.credentialId])
  })

  it('are not changed by a session that has ended since the request began', async () => {
    const { join, add, own, begin, options, sessions, member, links, passwordSignIn, clock } = opened
    const ada = await join('ada')
    const { passkey } = await add(ada)
    const begun = await begin(ada)
    const answer = authenticator(ORIGIN).create(options(begun))
    const added = { name: 'Of a thief', answer, cookie: begun.cookie }
    await sessions.end(ada)
    expect(await codeOf(own.add(ada, added))).to.equal('401 not_signed_in')
    expect(await codeOf(own.remove(ada, passkey.id, undefined))).to.equal('401 not_signed_in')
    const again = sessions.begin('ada')
    const late = await begin(again)
    const { token } = links.of(member('ada') ?? expect.fail(), clock.now + MINUTE_MS)
    await passwordSignIn.byLink(token, { password: PASSWORD })
    const late2 = authenticator(ORIGIN).create(options(late))
    const adding = own.add(again, { name: 'Of a thief', answer: late2, cookie: late.cookie })
    expect(await codeOf(adding)).to.equal('401 not_signed_in')
    expect(member('ada')).to.not.have.property('passkeys')
  })

  it('name those of this origin alone, which are the ones that browsers must not replace', async () => {
    const { join, add, begin, moveTo } = opened
    const ada = await join('ada')
    await add(ada)
    await moveTo('https://old.example.com')
    const { passkey } = await add(ada)
    expect((await begin(ada)).existing).to.deep.equal([passkey.credentialId])
  })

  it('are not for the operator, who has no record', async () => {
    const { sessions, begin, own } = opened
    const operator = sessions.begin('operator')
    expect(await own.list(operator)).to.deep.equal([])
    expect(await codeOf(begin(operator))).to.equal('409 operator_session')
    expect(await codeOf(own.remove(operator, 'x', undefined))).to.equal('409 operator_session')
  })

  it('are not for members of an identity provider, which decides about their access', async () => {
    const issuer = 'https://id.example.com/'
    const others = await openPasskeys({ issuer })
    const identity = { issuer, subject: 'grace' }
    await others.join('grace')
    await others.store.change((table) => {
      const members = table.members.map(({ password: _, ...one }) => ({ ...one, identity }))
      return { table: { ...table, members }, result: undefined }
    })
    const session = others.sessions.begin('grace')
    expect(session.member.isOfOrganisation).to.equal(true)
    expect(await codeOf(others.begin(session))).to.equal('409 no_password')
    await others.close()
  })
})

describe('a member who has only passkeys', () => {
  let opened: Awaited<ReturnType<typeof openPasskeys>>
  beforeEach(async () => {
    opened = await openPasskeys()
  })
  afterEach(() => opened.close())
  const removal = { newPassword: { current: PASSWORD, next: null, page: undefined } }

  /** Ada, who has a passkey and no password. */
  async function adaWithout() {
    const before = await opened.join('ada')
    const { device, passkey } = await opened.add(before)
    const session = await opened.passwordSignIn.changeOwn(before, removal)
    if (!session) throw new Error('expected another session')
    return { device, passkey, session }
  }

  it('has a passkey, and has given the password', async () => {
    const { join, add, passwordSignIn } = opened
    const ada = await join('ada')
    expect(await codeOf(passwordSignIn.changeOwn(ada, removal))).to.equal('409 no_passkey')
    await add(ada)
    const wrong = passwordSignIn.changeOwn(ada, { newPassword: { ...removal.newPassword, current: 'wrong' } })
    expect(await codeOf(wrong)).to.equal('403 wrong_password')
    expect(opened.member('ada')?.password).to.be.a('string')
  })

  it('has no password that opens the account, and no sessions of the time with one', async () => {
    const { sessions, passwordSignIn, join, add } = opened
    const ada = await join('ada')
    const other = sessions.begin('ada')
    await add(ada)
    const session = await passwordSignIn.changeOwn(ada, removal)
    expect(opened.member('ada')).to.not.have.property('password')
    expect(await sessions.find(session?.token ?? '')).to.nested.include({ 'member.isPasskeyOnly': true })
    expect(await sessions.find(other.token)).to.equal(undefined)
    const byPassword = passwordSignIn.byPassword({ email: 'ada@example.com', password: PASSWORD })
    expect(await codeOf(byPassword)).to.equal('401 wrong_password')
  })

  it('keeps the last passkey', async () => {
    const { own, add } = opened
    const { session, passkey } = await adaWithout()
    expect(await codeOf(own.remove(session, passkey.id, undefined))).to.equal('409 last_passkey')
    const second = await add(session)
    const after = await own.remove(session, passkey.id, undefined)
    expect(await codeOf(own.remove(after.session, second.passkey.id, undefined))).to.equal('409 last_passkey')
  })

  it('keeps the last passkey for this address', async () => {
    const { own, add, moveTo, join, passwordSignIn } = opened
    const { session, passkey: former } = await adaWithout()
    await moveTo('https://old.example.com')
    const { passkey } = await add(session)
    expect(await codeOf(own.remove(session, passkey.id, undefined))).to.equal('409 last_passkey')
    await own.remove(session, former.id, undefined)
    const bob = await join('bob')
    await add(bob)
    await moveTo('https://old.example.com')
    expect(await codeOf(passwordSignIn.changeOwn(bob, removal))).to.equal('409 no_passkey')
  })

  it('cannot remove the password again, and its session grows no younger', async () => {
    const { passwordSignIn, clock, join, add, sessions } = opened
    const { session } = await adaWithout()
    clock.now += MINUTE_MS
    expect(await codeOf(passwordSignIn.changeOwn(session, removal))).to.equal('409 no_password')
    const set = { newPassword: { current: '', next: PASSWORD, page: undefined } }
    const kept = await passwordSignIn.changeOwn(session, set)
    expect(kept).to.include({ id: session.id, begunAt: session.begunAt })
    // With the current password, it is a sign-in.
    const bob = await join('bob')
    await add(bob)
    clock.now += MINUTE_MS
    expect(await passwordSignIn.changeOwn(bob, removal)).to.include({ begunAt: clock.now })
    expect(await sessions.find(kept?.token ?? '')).to.nested.include({ 'member.isPasskeyOnly': false })
  })

  it('gets no password from a session that ends while the digest is computed', async () => {
    const { passwordSignIn, own, add, member, sessions } = opened
    const { session, passkey } = await adaWithout()
    await add(session)
    const set = { newPassword: { current: '', next: `${PASSWORD}!`, page: undefined } }
    const thief = sessions.begin('ada')
    const [setting] = await Promise.all([
      codeOf(passwordSignIn.changeOwn(thief, set)),
      own.remove(session, passkey.id, undefined),
    ])
    expect(setting).to.equal('401 not_signed_in')
    expect(member('ada')).to.not.have.property('password')
  })

  it('sets a password within ten minutes of the sign-in, and the sessions before the removal remain invalid', async () => {
    const { sessions, passwordSignIn, clock, store } = opened
    const first = await opened.join('ada')
    await opened.add(first)
    const alone = await passwordSignIn.changeOwn(first, removal)
    if (!alone) throw new Error('expected another session')
    clock.now += 10 * MINUTE_MS
    const set = { newPassword: { current: '', next: `${PASSWORD}!`, page: undefined } }
    expect(await codeOf(passwordSignIn.changeOwn(alone, set))).to.equal('403 sign_in_again')
    const recent = sessions.begin('ada')
    const both = await passwordSignIn.changeOwn(recent, set)
    if (!both) throw new Error('expected another session')
    expect(await sessions.find(alone.token)).to.equal(undefined)
    const again = await passwordSignIn.changeOwn(both, {
      newPassword: { ...removal.newPassword, current: `${PASSWORD}!` },
    })
    expect(again?.member.isPasskeyOnly).to.equal(true)
    for (const token of [alone.token, recent.token, both.token])
      expect(await sessions.find(token)).to.equal(undefined)
    expect(store.table().members[0]?.passkeys).to.have.length(1)
  })

  it('returns by a link, which removes the passkeys and works once', async () => {
    const { links, passwordSignIn, member, use, clock } = opened
    const { device } = await adaWithout()
    const ada = member('ada')
    if (!ada) throw new Error('ada is missing')
    const { token } = links.of(ada, clock.now + MINUTE_MS)
    expect((await passwordSignIn.readLink(token)).purpose).to.equal('reset')
    const session = await passwordSignIn.byLink(token, { password: PASSWORD })
    expect(session.member.isPasskeyOnly).to.equal(false)
    expect(member('ada')).to.not.have.property('passkeys')
    expect(await codeOf(use(device))).to.equal('401 unknown_passkey')
    expect(await codeOf(passwordSignIn.readLink(token))).to.equal('410 link_expired')
    // Also when the member gives up the password again.
    await opened.add(session)
    await passwordSignIn.changeOwn(session, removal)
    expect(await codeOf(passwordSignIn.readLink(token))).to.equal('410 link_expired')
  })
})
