import { expect } from 'chai'
import {
  digestSecret,
  newClientId,
  newClientToken,
  newSecretToken,
} from '../../../src/core/clients/client.ts'

describe('clients', () => {
  for (const [what, make, form] of [
    ['an id of 64 random bits', newClientId, /^[1-9A-HJ-NP-Za-km-z]{11}$/],
    ['a public token of 128 random bits', newClientToken, /^pub_[1-9A-HJ-NP-Za-km-z]{16,22}$/],
    ['a secret token of 256 random bits', newSecretToken, /^sec_[1-9A-HJ-NP-Za-km-z]{32,44}$/],
  ] as const) {
    it(`get ${what}, each a different one`, () => {
      const made = new Set(Array.from({ length: 1000 }, make))
      expect(made.size).to.equal(1000)
      for (const text of made) expect(text).to.match(form)
    })
  }

  it('are stored with a digest of their secret, which does not contain it', () => {
    const secret = newSecretToken()
    expect(digestSecret(secret)).to.match(/^[0-9a-f]{64}$/)
    expect(digestSecret(secret)).to.equal(digestSecret(secret))
    expect(digestSecret(`${secret} `)).to.not.equal(digestSecret(secret))
    expect(digestSecret(secret)).to.not.include(secret.slice(4))
  })

  it('have the same digest in every version, so that secrets stay valid', () => {
    expect(digestSecret('sec_example')).to.equal(
      '868c3a857732e2dd5818188c2c51e17575150fce38eb814bbd47a8f7e9e471d5',
    )
  })
})
