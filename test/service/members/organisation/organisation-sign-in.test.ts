import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import {
  createOrganisationSignIn,
  type OrganisationOptions,
} from '../../../../src/service/members/organisation/organisation-sign-in.ts'
import type { SignInRefused } from '../../../../src/service/members/organisation/refusals.ts'

describe('a sign-in that has begun at an identity provider', () => {
  it('is ended within ten minutes, exclusive, by an answer with its own state', async () => {
    const clock = { now: 1_800_000_000_000 }
    const secrets = { state: 'own', nonce: 'nonce', verifier: 'verifier' }
    const own = createOrganisationSignIn({
      provider: {
        issuer: 'https://id.example.com/',
        begin: async () => ({ url: 'https://id.example.com/a', secrets }),
      },
      key: randomBytes(32),
      baseUrl: 'http://localhost:3000',
      now: () => clock.now,
    } as unknown as OrganisationOptions)
    const { cookie, expiresAt } = await own.begin('/members')
    const outcome = (state: string) => {
      try {
        return own.begunBy(new URLSearchParams({ state }), cookie).from
      } catch (error) {
        return (error as SignInRefused).refusal
      }
    }
    expect(expiresAt).to.equal(clock.now + 600_000)
    clock.now = expiresAt - 1
    expect(outcome('own')).to.equal('/members')
    expect(outcome('another')).to.equal('expired')
    clock.now = expiresAt
    expect(outcome('own')).to.equal('expired')
  })
})
