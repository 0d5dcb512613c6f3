import { expect } from 'chai'
import { knownFormat } from '../../../src/core/media/formats.ts'
import type { LoadedPlugin } from '../../../src/pipeline/load/load.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { checkPresets } from '../../../src/pipeline/plan/presets.ts'
import { loadWith } from '../load/drop-ins.ts'

describe('allowed widths', () => {
  const allowedWidths = [320, 640, 1280]
  let transforms: readonly LoadedPlugin[] = []
  before(async () => {
    transforms = (await loadWith({})).transforms
  })

  const variantOf = (query: string, rules = { allowedWidths }) => {
    const plan = createPlanner(transforms, [], {
      presets: checkPresets({ card: { w: 500, h: 250 } }, transforms),
    })
    return plan({ query: new URLSearchParams(query), format: knownFormat('jpeg'), preferences: {}, rules })
      .variant
  }

  for (const [variant, queries] of [
    ['w=320', ['w=1', 'w=319', 'w=320', 'width=160&dpr=2', 'w=106&dpr=3', 'w=320&dpr=1']],
    ['w=640', ['w=321', 'w=640', 'w=320&dpr=1.01', 'w=320&dpr=2', 'w=213&dpr=3']],
    ['w=1280', ['w=641', 'w=1280', 'w=1281', 'w=5000', 'w=5000&dpr=3', 'w=427&dpr=3']],
    // The shape stays.
    ['h=160&w=320', ['w=300&h=150', 'w=320&h=160', 'w=160&h=80&dpr=2']],
    ['h=320&w=640', ['w=400&h=200', 'w=300&h=150&dpr=2']],
    ['h=640&w=1280', ['w=2560&h=1280', 'w=5000&h=2500&dpr=3']],
    // Within what a height may be.
    ['h=5000&w=320', ['w=1&h=5000', 'w=10&h=157']],
    ['h=1&w=1280', ['w=5000&h=1']],
    // Nothing to choose from.
    ['h=123', ['h=123']],
    ['dpr=2&h=123', ['h=123&dpr=2']],
    ['q=50', ['q=50']],
  ] as const)
    it(`give ${variant} for ${queries.join(', ')}`, () => {
      for (const query of queries) expect(variantOf(query), query).to.equal(variant)
    })

  it('use whole pixels', () => {
    expect(variantOf('w=100&dpr=1.1', { allowedWidths: [110, 200] })).to.equal('w=110')
  })

  it('do not change the width of a preset, unless the query sets it', () => {
    expect(variantOf('preset=card')).to.equal('h=250&w=500')
    expect(variantOf('preset=card&q=50')).to.equal('h=250&q=50&w=500')
    expect(variantOf('preset=card&dpr=2')).to.equal('h=640&w=1280')
    expect(variantOf('preset=card&w=600')).to.equal('h=267&w=640')
  })
})
