import { expect } from 'chai'
import type { TransformPlugin } from '../../../src/core/plugin-api/plugin.ts'
import { checkReport } from '../../../src/process/web/check-report.ts'

describe('the report of --check', () => {
  it('lists plugins in their order, with their parameters, events, disabled plugins, and presets', () => {
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
      presets: new Map([
        [
          'image',
          new Map<string, ReadonlyMap<string, number | boolean>>([
            [
              'thumb',
              new Map<string, number | boolean>([
                ['w', 200],
                ['dpr', true],
              ]),
            ],
            ['small', new Map([['w', 9]])],
          ]),
        ],
        ['video', new Map([['small', new Map([['w', 9]])]])],
      ]),
    })
    expect(report).to.equal(`configuration, plugins and presets are in order:

  turn           always
  image-size     w (width, x), dpr
  out            always; f
  told           on original.stored, archive.sent
  faces          detects
  off            disabled
  preset=thumb   w=200&dpr=1 (image)
  preset=small   w=9 (image)
  preset=small   w=9 (video)
`)
  })
})
