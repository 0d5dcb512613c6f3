import { expect } from 'chai'
import { z } from 'zod'
import { changedRules } from '../../../src/core/clients/rules/change.ts'
import type { Rule } from '../../../src/core/clients/rules/rule.ts'
import { ruleChanges, STORED_RULES } from '../../../src/core/clients/rules/schemas.ts'
import { CLIENT_RULES, type ClientRules, RULE_NAMES } from '../../../src/core/clients/rules/table.ts'

const BOUNDS = { uploadMaxBytes: 100_000_000, wrongPresets: () => [] }
const changes = z.strictObject(ruleChanges(z.null().transform(() => false as const)))

describe('the table of client rules', () => {
  for (const name of RULE_NAMES) {
    const rule: Rule<unknown, unknown> = CLIENT_RULES[name]
    const parse = (text: string) =>
      rule.parse(text, { before: undefined, readJson: () => ({ card: { w: 30 } }) })

    it(`sets ${name} by its documented example, stores it, shows it and removes it`, () => {
      const rules = changedRules({}, changes.parse({ [name]: parse(rule.docs.example) }), BOUNDS) ?? {}
      expect(rules).to.have.all.keys(name)
      expect(z.object(STORED_RULES).parse(JSON.parse(JSON.stringify(rules)))).to.deep.equal(rules)
      expect(rule.shown(rules[name])).to.match(/^[a-z]\S* .+/)
      expect(changedRules(rules, changes.parse({ [name]: null }), BOUNDS)).to.equal(undefined)
    })

    it(`rejects a value for ${name} of another type, and states the expected type`, () => {
      const { error } = changes.safeParse({ [name]: new Date() })
      expect(error?.issues[0]).to.deep.include({ path: [name], message: rule.expected })
    })
  }

  it('keeps unnamed rules, and orders rules as the table does', () => {
    const present: ClientRules = { presets: { a: { w: 1 } }, variantLimit: 3 }
    const rules = changedRules(present, { signedUrls: true }, BOUNDS)
    expect(Object.entries(rules ?? {})).to.deep.equal([
      ['signedUrls', true],
      ['variantLimit', 3],
      ['presets', { a: { w: 1 } }],
    ])
  })

  it('refuses 0 instead of storing it', () => {
    expect(() => changedRules({}, { variantLimit: 0 }, BOUNDS)).to.throw('an integer from 1 to 1000000')
  })

  it('changes only the named rate limits', () => {
    const rates = { zip: 100, upload: 5 }
    expect(changedRules({ rates }, { rates: { zip: false, sign: 0 } }, BOUNDS)).to.deep.equal({
      rates: { upload: 5, sign: 0 },
    })
    expect(changedRules({ rates }, { rates: { zip: false, upload: false } }, BOUNDS)).to.equal(undefined)
  })
})
