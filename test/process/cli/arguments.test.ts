import { expect } from 'chai'
import { CLIENT_RULES } from '../../../src/core/clients/rules/table.ts'

const keepDeleted = (text: string) =>
  CLIENT_RULES.keepDeletedSeconds.parse(text, { before: undefined, readJson: JSON.parse })

describe('--keep-deleted', () => {
  it('accepts up to 90 days, and off', () => {
    expect(keepDeleted('90d')).to.equal(7_776_000)
    expect(keepDeleted('off')).to.equal(false)
  })

  for (const text of ['91d', '0s'])
    it(`names itself and its bounds for ${text}`, () => {
      expect(() => keepDeleted(text)).to.throw('--keep-deleted must be from 1s to 90d')
    })
})
