import { expect } from 'chai'
import { simpleWebAuthn } from '../../../src/adapters/passkey-verifier/simplewebauthn.ts'
import { PasskeyRefused } from '../../../src/core/ports/members/passkey-verifier.ts'
import { rejection } from '../../support/rejection.ts'

const EXPECTED = { challenge: 'AA', origin: 'https://files.example.com', rpId: 'files.example.com' }
const CREATED = { id: 'AA', clientDataJSON: 'AA', attestationObject: 'AA' }
const USED = { id: 'AA', clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' }

describe('the verifier of passkeys', () => {
  it('refuses answers that cannot be read', async () => {
    const verifier = simpleWebAuthn()
    for (const answer of [verifier.created(CREATED, EXPECTED), verifier.used(USED, EXPECTED, 'AA')])
      expect(await rejection(answer)).to.be.an.instanceof(PasskeyRefused)
  })

  it('refuses nobody when its library cannot be loaded, which is no fault of the answer', async () => {
    const missing = new Error('Cannot find package')
    const verifier = simpleWebAuthn(() => Promise.reject(missing))
    expect(await rejection(verifier.created(CREATED, EXPECTED))).to.equal(missing)
    expect(await rejection(verifier.used(USED, EXPECTED, 'AA'))).to.equal(missing)
  })
})
