import { expect } from 'chai'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { noOriginalFallback } from '../../../src/pipeline/plan/concealing.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { checkPresets } from '../../../src/pipeline/plan/presets.ts'
import { dropIn, loadWith } from '../load/drop-ins.ts'

// What marks the owner of an image, or hides a part of it.
const CONCEALING = ['wm', 'wm3', 'text', 'text3', 'blur', 'pixelate', 'blur_region', 'pixelate_faces', 'crop']

describe('noOriginalFallback of a plan', () => {
  it('is true when one of its plugins declares it, also within a preset', async () => {
    const { transforms } = await loadWith({
      '1.js': dropIn('mosaic', { noOriginalFallback: 'true' }),
      '2.js': dropIn('glow', { noOriginalFallback: 'false' }),
    })
    const presets = checkPresets({ hidden: { mosaic: true }, shown: { glow: true } }, transforms)
    const plan = createPlanner(transforms, [], { presets })
    const answer = (query: string) =>
      noOriginalFallback(
        plan({ query: new URLSearchParams(query), format: knownFormat('jpeg'), preferences: {} }),
      )
    for (const query of ['mosaic', 'w=9&mosaic&glow', 'preset=hidden', 'preset=shown&mosaic'])
      expect(answer(query), query).to.equal(true)
    for (const query of ['', 'w=9', 'glow', 'mosaic=0&w=9', 'preset=shown', 'preset=hidden&mosaic=0'])
      expect(answer(query), query).to.equal(false)
  })

  it('is true for every shipped plugin that marks or hides', async () => {
    const silent = (await loadWith({})).transforms
      .filter(({ plugin }) => Object.keys(plugin.params).some((name) => CONCEALING.includes(name)))
      .filter(({ plugin }) => !plugin.noOriginalFallback)
      .map(({ plugin }) => plugin.name)
    expect(silent, 'these plugins need the member noOriginalFallback: true').to.deep.equal([])
  })
})
