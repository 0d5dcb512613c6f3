import { expect } from 'chai'
import { type Member, type MemberTable, NO_SESSIONS } from '../../../../src/core/members/member.ts'
import { admit } from '../../../../src/service/members/organisation/admit.ts'
import type { Person } from '../../../../src/service/members/organisation/people.ts'
import type { SignInRefused } from '../../../../src/service/members/organisation/refusals.ts'
import { A_PASSKEY, aMember } from '../../../contracts/member-store.ts'

const ISSUER = 'https://id.example.com/'
const EVE = {
  identity: { issuer: ISSUER, subject: 'eve' },
  email: 'eve@example.com',
  isEmailVerified: true,
  name: 'Eve',
  role: 'editor',
} as const
const { password: _, invitedUntil: __, ...WITHOUT_PASSWORD } = aMember('eve')
const JOINED: Member = { ...WITHOUT_PASSWORD, identity: EVE.identity }
const owner = (name: string): Member => ({ ...aMember(name), role: 'owner', clients: 'all' })

/** The admission and the member, or the reason of the refusal. */
function outcome(
  members: readonly Member[],
  { isUnverifiedAllowed = false, ...person }: Partial<Person> & { isUnverifiedAllowed?: boolean } = {},
): string | [string, Partial<Member>] {
  const table: MemberTable = { members, operatorSessions: NO_SESSIONS }
  const options = { newClients: ['first'], isUnverifiedAllowed, now: 1 }
  try {
    const { member, admission } = admit(table, { ...EVE, ...person } as typeof EVE, options).result
    const { id: ___, createdAt: ____, sessions: _____, ...shown } = member
    return [admission, shown]
  } catch (error) {
    return (error as SignInRefused).refusal
  }
}

describe('a person of an identity provider', () => {
  const eve = { email: 'eve@example.com', identity: EVE.identity, role: 'editor', clients: ['first'] }

  it('joins with a verified address, while there is a place', () => {
    expect(outcome([])).to.deep.equal(['joined', { ...eve, name: 'Eve' }])
    expect(outcome([], { isEmailVerified: false })).to.equal('unverified')
    expect(outcome([], { isEmailVerified: false, isUnverifiedAllowed: true })).to.deep.equal([
      'joined',
      { ...eve, name: 'Eve' },
    ])
    const many = (count: number) => Array.from({ length: count }, (_, n) => aMember(`member-${n}`))
    expect(outcome(many(449))[0]).to.equal('joined')
    expect(outcome(many(450))).to.equal('full')
  })

  it('becomes a member with a password by a verified address alone, and never the last owner', () => {
    expect(outcome([owner('boss'), aMember('eve')])).to.deep.equal(['linked', { ...eve, name: 'eve' }])
    const anyone = { isEmailVerified: false, isUnverifiedAllowed: true }
    expect(outcome([owner('boss'), aMember('eve')], anyone)).to.equal('taken')
    expect(outcome([owner('eve')], { role: 'owner' })).to.equal('last-owner')
    expect(outcome([owner('boss'), owner('eve')])).to.deep.equal(['linked', { ...eve, name: 'eve' }])
  })

  it('becomes a member with passkeys, who loses them, and never the last owner with one', () => {
    const { password: ___, ...alone } = { ...owner('eve'), passkeys: [A_PASSKEY] }
    expect(outcome([owner('boss'), alone])).to.deep.equal(['linked', { ...eve, name: 'eve' }])
    expect(outcome([alone], { role: 'owner' })).to.equal('last-owner')
    expect(outcome([alone, owner('boss')])).to.deep.equal(['linked', { ...eve, name: 'eve' }])
    const known = outcome([{ ...JOINED, passkeys: [A_PASSKEY] }], { role: 'viewer' })
    expect(known).to.deep.equal(['changed', { ...eve, name: 'eve', role: 'viewer' }])
  })

  it('is known by the subject at this issuer: neither by the address, nor at another issuer', () => {
    expect(outcome([JOINED], { role: 'viewer' })[0]).to.equal('unchanged')
    expect(outcome([JOINED], { identity: { issuer: ISSUER, subject: 'other' } })).to.equal('taken')
    const elsewhere = { issuer: 'https://other.example.com/', subject: 'eve' }
    expect(outcome([JOINED], { identity: elsewhere })).to.deep.equal([
      'linked',
      { ...eve, name: 'eve', identity: elsewhere },
    ])
    expect(outcome([JOINED], { identity: elsewhere, isEmailVerified: false })).to.equal('taken')
  })

  it('gets another address only when it is verified and free', () => {
    const address = (members: readonly Member[], person: Partial<Person>) => {
      const [, member] = outcome(members, { email: 'new@example.com', ...person })
      return (member as Member).email
    }
    expect(address([JOINED], {})).to.equal('new@example.com')
    expect(address([JOINED], { isEmailVerified: false })).to.equal('eve@example.com')
    expect(address([JOINED, aMember('new')], {})).to.equal('eve@example.com')
  })
})
