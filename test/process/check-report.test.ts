import { expect } from 'chai'
import type { TransformPlugin } from '../../src/core/plugin.ts'
import { checkReport } from '../../src/process/check-report.ts'

describe('the report of --check', () => {
  it('lists plugins in their order, with their parameters, events, and what is disabled', () => {
    const plugin = (name: string, params: TransformPlugin['params'], always = false) => ({
      plugin: { name, engine: 'sharp', phase: 'effect', params, always, transform: () => undefined } as const,
    })
    const report = checkReport({
      plugins: {
        transforms: [
          plugin('turn', {}, true),
          plugin('image-size', {
            w: { type: 'integer', min: 1, max: 9, aliases: ['width', 'x'], help: 'Width' },
            dpr: { type: 'flag', help: 'Sharper' },
          }),
          plugin('out', { f: { type: 'flag', help: 'Format' } }, true),
        ],
        events: [{ plugin: { name: 'told', on: { 'original.stored': () => {}, 'archive.sent': () => {} } } }],
        detector: { plugin: { name: 'faces', engine: 'sharp', detect: () => [] } },
      },
      chain: { disabled: ['off'] },
    })
    expect(report).to.equal(`configuration and plugins are in order:

  turn         always
  image-size   w (width, x), dpr
  out          always; f
  told         on original.stored, archive.sent
  faces        detects
  off          disabled
`)
  })
})
