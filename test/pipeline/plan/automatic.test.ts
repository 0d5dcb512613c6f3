import { expect } from 'chai'
import { knownFormat } from '../../../src/core/media/formats.ts'
import type { LoadedPlugin } from '../../../src/pipeline/load/load.ts'
import { createPlanner, type PlanInput } from '../../../src/pipeline/plan/plan.ts'
import { checkPresets } from '../../../src/pipeline/plan/presets.ts'
import { loadWith } from '../load/drop-ins.ts'

describe('the value auto of w and dpr', () => {
  let transforms: readonly LoadedPlugin[] = []
  before(async () => {
    transforms = (await loadWith({})).transforms
  })

  function planOf(query: string, preferences: PlanInput['preferences'] = {}, rules = {}) {
    const plan = createPlanner(transforms, [], {
      presets: checkPresets({ fluid: { w: 'auto' } }, transforms),
    })
    return plan({ query: new URLSearchParams(query), format: knownFormat('jpeg'), preferences, rules })
  }

  for (const [query, preferences, same] of [
    ['w=auto', { width: 400 }, 'w=400'],
    ['width=AUTO', { width: 400 }, 'w=400'],
    ['w=300&dpr=auto', { dpr: 2 }, 'w=300&dpr=2'],
    // Device pixels are the product.
    ['w=auto&dpr=auto', { dpr: 2, width: 800 }, 'w=400&dpr=2'],
    ['w=auto&dpr=2', { dpr: 1, width: 700 }, 'w=350&dpr=2'],
    ['w=auto&dpr=auto', { dpr: 3, width: 700 }, 'w=234&dpr=3'],
    // Without hints.
    ['w=auto', {}, 'w=1600'],
    ['w=auto&dpr=auto', {}, 'w=1600'],
    ['w=auto&dpr=2', {}, 'w=800&dpr=2'],
    ['w=300&dpr=auto', {}, 'w=300'],
    // Within the bounds of the parameters and of the output.
    ['w=300&dpr=auto', { dpr: 4 }, 'w=300&dpr=3'],
    ['w=3000&dpr=auto', { dpr: 3 }, 'w=3000&dpr=1.5'],
    ['h=2000&dpr=auto', { dpr: 3 }, 'h=2000&dpr=2'],
    ['w=5000&dpr=auto', { dpr: 3 }, 'w=5000'],
    ['w=1000&ar=1:2&dpr=auto', { dpr: 3 }, 'w=1000&ar=1:2&dpr=2'],
    ['w=auto&ar=1:2', { width: 4000 }, 'w=2450&ar=1:2'],
    ['h=1000&ar=2:1&dpr=auto', { dpr: 3 }, 'h=1000&ar=2:1&dpr=2'],
    ['preset=fluid', { width: 500 }, 'w=500'],
  ] as const)
    it(`of ${query} with ${JSON.stringify(preferences)} is ${same}`, () =>
      expect(planOf(query, preferences).variant).to.equal(planOf(same).variant))

  it('depends on what it uses', () => {
    const accepting = { accept: 'image/webp', dpr: 2, width: 400 }
    expect(planOf('w=300', accepting).variesBy).to.deep.equal([])
    expect(planOf('w=300&dpr=auto').variesBy).to.deep.equal(['dpr'])
    expect(planOf('w=auto').variesBy).to.deep.equal(['width'])
    expect(planOf('w=auto&dpr=auto&f=auto', accepting).variesBy).to.deep.equal(['dpr', 'width', 'accept'])
  })

  it('is limited to the allowed widths', () => {
    const variant = (query: string) =>
      planOf(query, { dpr: 2, width: 900 }, { allowedWidths: [320, 640, 1280] }).variant
    expect(variant('w=auto&dpr=auto')).to.equal('w=1280')
    expect(variant('w=300&dpr=auto')).to.equal('w=640')
  })

  it('is not a value of other numbers', () => {
    for (const query of ['h=auto', 'q=auto', 'blur=auto'])
      expect(() => planOf(query), query).to.throw('but received "auto"')
  })
})
