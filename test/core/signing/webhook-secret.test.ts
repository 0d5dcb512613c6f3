import { expect } from 'chai'
import { webhookKey } from '../../../src/core/signing/webhook-secret.ts'

const SECRET = secretOf(32)

/** A secret of so many bytes. */
function secretOf(bytes: number): string {
  return `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
}

describe('a secret of webhooks', () => {
  for (const bytes of [24, 25, 26, 32, 64])
    it(`has the key of ${bytes} bytes`, () =>
      expect(webhookKey(secretOf(bytes))).to.deep.equal(Buffer.alloc(bytes, 1)))

  it('may lack the padding', () =>
    expect(webhookKey(SECRET.replace('=', ''))).to.deep.equal(Buffer.alloc(32, 1)))

  for (const text of [
    ...[secretOf(23), secretOf(65), SECRET.slice('whsec_'.length), SECRET.toUpperCase(), `${SECRET}==`],
    ...[`whsec_${SECRET}`, SECRET.replace('whsec_', 'whsec-'), SECRET.replaceAll('AQ', '-_'), 'whsec_'],
  ])
    it(`is not ${text}`, () => expect(webhookKey(text)).to.equal(undefined))
})
