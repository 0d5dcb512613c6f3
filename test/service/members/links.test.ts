import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { type Member, NO_SESSIONS } from '../../../src/core/members/member.ts'
import { createMemberLinks } from '../../../src/service/members/links.ts'
import { A_PASSKEY, aMember } from '../../contracts/member-store.ts'

const NOW = 1_800_000_000_000
const tableOf = (...members: Member[]) => ({ members, operatorSessions: NO_SESSIONS })

describe('links of the console', () => {
  const clock = { now: NOW }
  const links = createMemberLinks({ key: randomBytes(32), now: () => clock.now })
  const ada = aMember('ada')
  const { password: _, ...invited } = { ...aMember('bob'), invitedUntil: NOW }
  /** What the link is for, or the code of its refusal. */
  const read = (token: string, ...members: Member[]) => {
    try {
      return links.read(token, tableOf(...members)).purpose
    } catch (error) {
      return (error as { code: string }).code
    }
  }

  it('expire to the millisecond', () => {
    for (const [issued, member] of [
      [links.setup(tableOf(), NOW + 1000), undefined],
      [links.of(ada, NOW + 1000), ada],
      [links.of(invited, NOW + 1000), invited],
    ] as const) {
      expect(issued.expiresAt).to.equal(NOW + 1000)
      const members = member ? [member] : []
      clock.now = issued.expiresAt - 1
      expect(read(issued.token, ...members)).to.be.oneOf(['setup', 'reset', 'invitation'])
      clock.now = issued.expiresAt
      expect(read(issued.token, ...members)).to.equal('link_expired')
      clock.now = NOW
    }
  })

  it('that create the first owner are neither issued nor valid when a member can sign in', () => {
    const { token } = links.setup(tableOf(), NOW + 1000)
    expect(read(token)).to.equal('setup')
    expect(read(token, invited)).to.equal('setup')
    expect(read(token, ada)).to.equal('link_expired')
    expect(() => links.setup(tableOf(ada), NOW + 1000))
      .to.throw()
      .with.property('code', 'link_expired')
  })

  it('of a member who has only passkeys are valid until all sessions end', () => {
    const alone: Member = { ...invited, passkeys: [A_PASSKEY] }
    const { token } = links.of(alone, NOW + 1000)
    expect(read(token, alone)).to.equal('reset')
    expect(read(token, { ...alone, passkeys: [{ ...A_PASSKEY, counter: 6 }] })).to.equal('reset')
    const { generation } = alone.sessions
    expect(read(token, { ...alone, sessions: { generation: generation + 1, ended: [] } })).to.equal(
      'link_expired',
    )
    expect(read(token, { ...alone, password: 'a digest' })).to.equal('link_expired')
    expect(() => links.setup(tableOf(alone), NOW + 1000))
      .to.throw()
      .with.property('code', 'link_expired')
  })

  it('are of one member, in one state', () => {
    const { token } = links.of(ada, NOW + 1000)
    expect(read(token, ada)).to.equal('reset')
    expect(read(token, { ...ada, id: 'other' })).to.equal('link_expired')
    expect(read(token, { ...ada, password: 'another digest' })).to.equal('link_expired')
    expect(read(token)).to.equal('link_expired')
    const invitation = links.of(invited, NOW + 1000).token
    expect(read(invitation, invited)).to.equal('invitation')
    expect(read(invitation, { ...invited, invitedUntil: NOW + 1 })).to.equal('link_expired')
    const other = createMemberLinks({ key: randomBytes(32), now: () => NOW })
    expect(read(other.of(ada, NOW + 1000).token, ada)).to.equal('link_expired')
  })
})
