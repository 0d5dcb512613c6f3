import { expect } from 'chai'
import type { PresetSettings } from '../../../src/core/clients/rules/rule.ts'
import type { ClientRules } from '../../../src/core/clients/rules/table.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { Problem } from '../../../src/core/problem.ts'
import type { LoadedPlugin } from '../../../src/pipeline/load/load.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { checkPresets, PresetError } from '../../../src/pipeline/plan/presets.ts'
import { dropIn, loadWith } from '../load/drop-ins.ts'

const ACCEPTING = 'image/avif,image/webp'

describe('presets', () => {
  /** The shipped plugins, a flag, and one for texts that takes widths of its own. */
  let transforms: readonly LoadedPlugin[] = []
  before(async () => {
    const params = `{
      w: { type: 'integer', min: 1, max: 8000, help: 'Width' },
      mute: { type: 'flag', help: 'Without sound' },
    }`
    const files = { 'glow.js': dropIn('glow'), 'clip.js': dropIn('clip', { media: "['text']", params }) }
    transforms = (await loadWith(files)).transforms
  })

  const SETTINGS: PresetSettings = {
    thumb: { width: 200, h: '100', fit: 'cover', f: 'jpeg' },
    auto: { w: 50, f: 'auto' },
    glowing: { glow: true, w: 20 },
    dull: { glow: false, w: 20 },
    silent: { mute: true },
    wide: { w: 6000 },
  }

  function variantOf(
    query: string,
    {
      format = 'jpeg',
      accept = '',
      rules,
      settings = SETTINGS,
    }: { format?: string; accept?: string; rules?: ClientRules; settings?: PresetSettings } = {},
  ): string {
    const plan = createPlanner(transforms, [], { presets: checkPresets(settings, transforms) })
    return plan({
      query: new URLSearchParams(query),
      format: knownFormat(format),
      preferences: { accept },
      rules,
    }).variant
  }

  function refusal(query: string, options: Parameters<typeof variantOf>[1] = {}): Problem {
    try {
      variantOf(query, options)
    } catch (error) {
      expect(error).to.be.instanceOf(Problem)
      return error as Problem
    }
    throw new Error(`${query} was accepted`)
  }

  describe('in a query', () => {
    for (const [query, same] of [
      ['preset=thumb', 'w=200&h=100'],
      ['preset=thumb&utm_source=x', 'w=200&h=100'],
      ['preset=thumb&w=300', 'w=300&h=100'],
      ['width=300&preset=thumb', 'w=300&h=100'],
      ['preset=thumb&format=png', 'w=200&h=100&f=png'],
      ['preset=thumb&fit=inside&dpr=2', 'w=200&h=100&fit=inside&dpr=2'],
      ['preset=auto', 'w=50&f=auto'],
      ['preset=glowing', 'glow&w=20'],
      ['preset=glowing&glow=0', 'w=20'],
      ['preset=dull', 'w=20'],
      ['preset=dull&glow', 'w=20&glow'],
    ] as const) {
      it(`${query} equals ${same}`, () => {
        expect(variantOf(query)).to.equal(variantOf(same))
        expect(variantOf(query, { accept: ACCEPTING })).to.equal(variantOf(same, { accept: ACCEPTING }))
      })
    }

    it('are not named in a variant: an edited preset gives other derivatives', () => {
      const settings = { thumb: { w: 201, h: 100 } }
      expect(variantOf('preset=thumb')).to.equal('h=100&w=200')
      expect(variantOf('preset=thumb', { settings })).to.equal('h=100&w=201')
    })

    it('are for files whose plugins accept all of their parameters', () => {
      expect(variantOf('preset=silent', { format: 'txt' })).to.match(/^mute=1/)
      expect(variantOf('preset=wide', { format: 'txt' })).to.match(/^w=6000/)
      for (const query of ['preset=silent', 'preset=wide'])
        expect(refusal(query)).to.include({ status: 400, code: 'unknown_preset' })
      for (const query of ['preset=thumb', 'preset=auto'])
        expect(refusal(query, { format: 'txt' })).to.include({ status: 400, code: 'unknown_preset' })
    })

    for (const [name, nearest, detail] of [
      ['thum', 'thumb', 'there is no preset "thum" for image files; did you mean "thumb"?'],
      ['THUMB', 'thumb', 'there is no preset "THUMB" for image files; did you mean "thumb"?'],
      [
        'banner',
        undefined,
        'there is no preset "banner" for image files; there are thumb, auto, glowing, dull',
      ],
      ['', undefined, 'there is no preset "" for image files; there are thumb, auto, glowing, dull'],
      ['constructor', undefined, /there is no preset "constructor"/],
    ] as const) {
      it(`are refused with the nearest name when unknown: "${name}"`, () => {
        const problem = refusal(`preset=${name}&w=1`)
        expect(problem).to.include({ status: 400, code: 'unknown_preset' })
        expect(problem.message).to.match(detail instanceof RegExp ? detail : /^/)
        if (typeof detail === 'string') expect(problem.message).to.equal(detail)
        expect(problem.members).to.deep.equal({
          param: 'preset',
          received: name,
          ...(nearest ? { nearest } : {}),
        })
      })
    }

    it('are reported as missing when there are no presets', () => {
      expect(refusal('preset=a', { format: 'zip' }).message).to.match(
        /for application files; there are no presets$/,
      )
    })

    it('are suggested for a typing error in the word preset', () => {
      expect(refusal('preste=thumb').members).to.deep.equal({ param: 'preste', nearest: 'preset' })
    })

    for (const query of ['preset=thumb&preset=auto', 'preset=thumb&preset=thumb'])
      it(`are limited to one: ${query}`, () => {
        expect(refusal(query)).to.include({ status: 400, code: 'bad_parameter' })
      })
  })

  describe('of a client with presetsOnly', () => {
    const rules: ClientRules = { presetsOnly: true }

    it('work as for every client', () => {
      expect(variantOf('preset=thumb&v=2&utm_source=x', { rules })).to.equal('h=100&w=200')
      expect(variantOf('', { rules })).to.equal('')
    })

    for (const query of ['w=200', 'preset=thumb&w=200', 'q=75&preset=thumb', 'f=auto', 'w=abc', 'nonsense=1'])
      it(`refuse ${query}`, () => {
        const problem = refusal(query, { rules })
        const param = query.replace(/preset=thumb&?|=.*/g, '').replace(/=.*/, '')
        expect(problem).to.include({ status: 403, code: 'presets_only' })
        expect(problem.members).to.deep.equal({ param, expected: 'preset' })
        expect(problem.message).to.include(`but received "${param}"`)
      })
  })

  describe('with errors', () => {
    const reasonsOf = (settings: PresetSettings): string[] => {
      try {
        checkPresets(settings, transforms)
      } catch (error) {
        expect(error).to.be.instanceOf(PresetError)
        return (error as Error).message.split('\n')
      }
      throw new Error('they were accepted')
    }

    for (const [what, parameters, reason] of [
      [
        'an unknown parameter',
        { widht: 1 },
        /there is no parameter "widht" for image .*did you mean "width"/,
      ],
      [
        'a value out of bounds',
        { w: 9000 },
        /an integer from 1 to 5000 px or auto for w but received "9000"/,
      ],
      ['a value of another kind', { f: true }, /one of .* for f but received "1"/],
      ['one parameter under two names', { w: 1, width: 2 }, /one value for width/],
      ['another preset', { preset: 'thumb' }, /a parameter of a plugin for preset/],
      ['the name of a download', { download: 'a.png' }, /a parameter of a plugin for download/],
      ['an ignored parameter', { utm_source: 'x', w: 1 }, /a parameter of a plugin for utm_source/],
      ['nothing', {}, /at least one parameter/],
      ['parameters of two groups', { mute: true, h: 5 }, /there is no parameter "mute" for image/],
    ] as const) {
      it(`are refused with their name: with ${what}`, () => {
        const [line = '', ...others] = reasonsOf({ fine: { w: 1 }, broken: parameters })
        expect(others).to.deep.equal([])
        expect(line).to.match(/^config\/presets\.json: broken: /)
        expect(line).to.match(reason)
      })
    }

    it('are reported all at once, with all errors', () => {
      const lines = reasonsOf({ one: { w: 0, h: 0, q: 5 }, fine: { w: 1 }, two: { nothing: 1 } })
      expect(lines.map((line) => line.split(': ')[1])).to.deep.equal(['one', 'one', 'two'])
    })
  })
})
