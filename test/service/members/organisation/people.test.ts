import { expect } from 'chai'
import { grantedRole, textsOfClaim } from '../../../../src/core/members/claims.ts'
import { personOf } from '../../../../src/service/members/organisation/people.ts'
import { SignInRefused } from '../../../../src/service/members/organisation/refusals.ts'

const ISSUER = 'https://id.example.com/'

describe('claims of a person', () => {
  it('grant the highest role of their values', () => {
    const rules = [
      { value: 'admins', role: 'owner' },
      { value: 'design', role: 'editor' },
      { value: '*', role: 'viewer' },
    ] as const
    expect(grantedRole(['design', 'admins'], rules)).to.equal('owner')
    expect(grantedRole(['design'], rules)).to.equal('editor')
    expect(grantedRole(['Admins', 'admin', ''], rules)).to.equal('viewer')
    expect(grantedRole(['*'], rules.slice(0, 2))).to.equal(undefined)
  })

  it('are texts, at a name or a path', () => {
    for (const [claims, name, texts] of [
      [{ groups: 'a' }, 'groups', ['a']],
      [{ groups: ['a', 1, null, 'b', ['c']] }, 'groups', ['a', 'b']],
      [{ realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
      [{ 'https://x.example/roles': ['a'] }, 'https://x.example/roles', ['a']],
      [{ groups: { a: true } }, 'groups', []],
      [{}, 'constructor.name', []],
      [{ realm_access: null }, 'realm_access.roles', []],
    ] as const)
      expect(textsOfClaim(claims, name), name).to.deep.equal(texts)
  })

  it('state a verified address only when its letters are those of the issuer', () => {
    const rules = { roleClaim: 'groups', roles: [], emailDomains: undefined, isUnverifiedAllowed: false }
    const verified = (email: string, isStated: unknown = true) =>
      personOf({ sub: 'kim', email, email_verified: isStated }, { issuer: ISSUER, rules }).isEmailVerified
    expect(verified('Kim@Example.com')).to.equal(true)
    expect(verified('kim@example.com', 'true')).to.equal(true)
    expect(verified('kim@example.com', 'yes')).to.equal(false)
    // U+212A, which becomes a k in lower case.
    expect(verified('\u212aim@example.com')).to.equal(false)
    const tooLong = () =>
      personOf({ sub: 'x'.repeat(256), email: 'kim@example.com' }, { issuer: ISSUER, rules })
    expect(tooLong).to.throw(SignInRefused).with.property('refusal', 'invalid')
  })
})
