import { expect } from 'chai'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { badParameter, Problem } from '../../../src/core/problem.ts'
import { cachedPlans } from '../../../src/pipeline/plan/cached-plans.ts'
import { createPlanner, type Plan, type PlanInput } from '../../../src/pipeline/plan/plan.ts'
import { loadWith } from '../load/drop-ins.ts'

describe('cached plans', () => {
  const input: PlanInput = { query: [['w', '100']], format: knownFormat('png'), preferences: {}, rules: {} }
  let plan: (input: PlanInput) => Plan
  let made = 0
  beforeEach(async () => {
    made = 0
    const planner = createPlanner((await loadWith({})).transforms, [])
    plan = cachedPlans((given) => {
      made += 1
      return planner(given)
    })
  })

  it('are made once per query', () => {
    expect(plan({ ...input, query: [['w', '100']] })).to.equal(plan(input))
    expect(made).to.equal(1)
  })

  it('include refusals', () => {
    for (let i = 0; i < 2; i++)
      expect(() => plan({ ...input, query: [['w', 'abc']] })).to.throw(Problem, 'for w but received "abc"')
    expect(made).to.equal(1)
  })

  it('do not include other errors', () => {
    let calls = 0
    const failing = cachedPlans(() => {
      calls += 1
      throw calls === 1 ? new Error('no plan') : badParameter({ param: 'w', expected: 'a width' })
    })
    expect(() => failing(input)).to.throw('no plan')
    expect(() => failing(input)).to.throw(Problem)
  })

  for (const [what, other] of [
    ['value', { query: [['w', '101']] }],
    ['format', { format: knownFormat('jpeg') }],
    ['Accept header', { preferences: { accept: 'image/webp' } }],
    ['focal point', { focalPoint: { x: 0, y: 0 } }],
    ['failed format', { tooSmall: ['webp'] }],
  ] as Array<[string, Partial<PlanInput>]>)
    it(`are made again for another ${what}`, () => {
      plan(input)
      plan({ ...input, ...other })
      expect(made).to.equal(2)
    })

  it('are made again when the rules or the presets of the client have changed', () => {
    const query: PlanInput['query'] = [['preset', 'card']]
    const withWidth = (w: string) => ({ presets: { card: { w } } })
    const [first, second] = ['100', '200'].map((w) => plan({ ...input, query, rules: withWidth(w) }).variant)
    expect(first).to.not.equal(second)
    expect(() => plan({ ...input, rules: { presetsOnly: true } })).to.throw(Problem, 'expected a preset')
  })

  it('are limited in number', () => {
    plan(input)
    for (let w = 1; w <= 1001; w++) plan({ ...input, query: [['h', String(w)]] })
    made = 0
    plan(input)
    expect(made).to.equal(1)
  })
})
