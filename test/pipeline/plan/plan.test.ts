import { expect } from 'chai'
import type { Size } from '../../../src/core/geometry/box.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { Problem } from '../../../src/core/problem.ts'
import { type ChainSettings, type LoadedPlugin, loadPlugins } from '../../../src/pipeline/load/load.ts'
import { createPlanner, type Plan } from '../../../src/pipeline/plan/plan.ts'
import { CHAIN, dropIn, dropIns, ENGINES, loadWith, SHIPPED } from '../load/drop-ins.ts'

const FINGERPRINT = /&~[0-9a-f]{8}$/

/** The plan for a query as it stands in a URL. */
function planOf(
  transforms: readonly LoadedPlugin[],
  query: string,
  {
    format = 'jpeg',
    accept = '',
    ignored = [] as readonly string[],
    size = undefined as Size | undefined,
  } = {},
): Plan {
  return createPlanner(
    transforms,
    ignored,
  )({ query: new URLSearchParams(query), format: knownFormat(format), preferences: { accept }, size })
}

describe('planning', () => {
  let shipped: readonly LoadedPlugin[] = []
  before(async () => {
    // A few of them: this is about what a planner does, whatever plugins there are.
    const few = ['image-orient', 'image-crop', 'image-resize', 'image-format']
    shipped = (await loadWith({})).transforms.filter(({ plugin }) => few.includes(plugin.name))
  })

  const plan = (query: string, options: Parameters<typeof planOf>[2] = {}) => planOf(shipped, query, options)
  const refusal = (query: string, options: Parameters<typeof planOf>[2] = {}): Problem => {
    try {
      plan(query, options)
    } catch (error) {
      expect(error).to.be.instanceOf(Problem)
      return error as Problem
    }
    throw new Error(`${query} was accepted`)
  }
  const steps = ({ steps }: Plan) => steps.map(({ plugin }) => plugin.name)

  describe('with the size of the original', () => {
    const size = { width: 1200, height: 800 }
    for (const [variant, queries] of [
      ['w=1200', ['w=1200', 'w=1201', 'w=5000', 'w=5000&fit=contain']],
      ['h=800', ['h=800', 'h=801', 'h=5000']],
      ['w=1199', ['w=1199']],
      ['dpr=2&w=600', ['w=600&dpr=2', 'w=601&dpr=2', 'w=2500&dpr=2']],
      ['dpr=1.1&w=1091', ['w=1091&dpr=1.1', 'w=1100&dpr=1.1', 'w=3000&dpr=1.1']],
      ['fit=inside&h=800&w=1200', ['w=5000&h=900&fit=inside', 'w=1201&h=5000&fit=inside']],
      ['fit=inside&h=400&w=600', ['w=5000&h=400&fit=inside', 'w=1201&h=400&fit=inside']],
      ['fit=outside&h=800&w=1200', ['w=5000&h=900&fit=outside', 'w=1201&h=801&fit=outside']],
      ['fit=outside&h=100&w=1200', ['w=5000&h=100&fit=outside', 'w=1201&h=100&fit=outside']],
      ['h=800&w=800', ['w=800&h=800', 'w=801&h=801', 'w=5000&h=5000']],
      ['h=675&w=1200', ['w=1600&h=900', 'w=4800&ar=16:9']],
      ['fit=fill&h=800&w=1200', ['w=2400&h=1600&fit=fill', 'w=3600&h=2400&fit=fill']],
      ['w=600&zoom=2', ['w=1201&zoom=2', 'w=5000&zoom=2']],
    ] as Array<[string, string[]]>)
      it(`is ${variant} for ${queries.join(', ')}`, () => {
        for (const query of queries) expect(plan(query, { size }).variant, query).to.equal(variant)
      })

    for (const query of [
      'enlarge=1&w=5000',
      'crop=0,0,90,90&w=5000',
      'fit=contain&h=900&w=5000',
      'h=1000&w=1333',
      'w=500',
      'fit=inside&h=700&w=1100',
    ])
      it(`keeps ${query}`, () => {
        expect(plan(query, { size }).variant).to.equal(query)
      })

    it('keeps a width that is above the limit with its dpr, which is an error', () => {
      expect(plan('w=2501&dpr=2', { size }).variant).to.equal('dpr=2&w=2501')
    })

    it('is planned again only below the requested sides', () => {
      const sides = (query: string) => plan(query).dependsOnSizeBelow
      expect(sides('w=500&dpr=2')).to.deep.equal({ width: 1000, height: undefined })
      expect(sides('w=500&h=400')).to.deep.equal({ width: 500, height: 400 })
      expect(sides('q=80')).to.equal(undefined)
      expect(plan('w=1300', { size }).dependsOnSizeBelow).to.equal(undefined)
    })
  })

  describe('a variant', () => {
    for (const [variant, queries] of [
      [
        'h=50&w=100',
        ['w=100&h=50', 'h=50&w=100', 'width=100&height=50', 'h=0050&width=0100', 'w=100&utm_x=1&h=50'],
      ],
      ['f=tiff&w=100', ['f=tif&w=100', 'format=TIFF&w=100', 'w=100&f=tiff']],
      ['dpr=2&w=10', ['w=10&dpr=2', 'w=10&dpr=2.0', 'dpr=2.&w=10']],
      ['q=80', ['q=80', 'quality=80']],
      ['fit=inside&h=5&w=5', ['w=5&h=5&fit=inside', 'fit=INSIDE&w=5&h=5']],
    ] as const) {
      it(`is ${variant} for ${queries.join(', ')}`, () => {
        for (const query of queries) expect(plan(query).variant, query).to.equal(variant)
      })
    }

    for (const [variant, queries, format] of [
      ['w=100', ['w=100', 'w=100&dpr=1', 'w=100&f=jpg', 'w=100&fit=inside', 'w=100&f=auto'], 'jpeg'],
      ['h=50&w=100', ['w=100&h=50', 'w=100&h=50&fit=cover&dpr=1.0&f=jpeg'], 'jpeg'],
      ['default', ['f=jpeg', 'f=auto', 'dpr=2', 'fit=fill', 'dpr=2&fit=cover'], 'jpeg'],
      // A requested quality is never lowered, so it is not the default.
      ['q=78', ['q=78', 'f=jpeg&q=78'], 'jpeg'],
      ['default', ['q=75', 'q=10', 'f=png', 'f=png&q=100', 'dpr=2'], 'png'],
      ['default', ['q=10', 'f=gif&q=10'], 'gif'],
      ['default', ['q=10', 'f=png', 'fit=cover'], 'svg'],
      ['f=png', ['f=png', 'f=png&q=10', 'f=png&q=75'], 'jpeg'],
      ['q=10', ['q=10', 'q=10&f=webp', 'f=auto&q=10'], 'webp'],
      ['default', ['maxbytes=5', 'a=0', 'a=1', 'page=1', 'icc=srgb'], 'png'],
      ['lossless=1', ['lossless', 'lossless&q=5'], 'png'],
      ['default', ['maxbytes=5', 'lossless', 'animated=1', 'icc=keep', 'q=9'], 'gif'],
      ['default', ['a=0', 'animated=0', 'page=1', 'a=1', 'icc=srgb'], 'jpeg'],
      ['default', ['icc=keep', 'page=1', 'maxbytes=9'], 'svg'],
      ['a=0', ['a=0', 'animated=0', 'page=1', 'a=0&page=1', 'a=1&page=1', 'page=01&f=webp'], 'webp'],
      ['page=2', ['page=2', 'page=2&a=0', 'page=2&a=1', 'page=02'], 'gif'],
      ['f=png', ['f=png', 'f=png&a=0', 'f=png&page=1', 'f=png&a=1'], 'gif'],
      ['f=png&page=3', ['f=png&page=3', 'f=png&page=3&a=0'], 'webp'],
      [
        'lossless=1',
        ['lossless', 'lossless&q=5', 'lossless&maxbytes=9&q=50', 'f=webp&lossless=true'],
        'webp',
      ],
      ['maxbytes=9', ['maxbytes=9', 'maxbytes=009'], 'jpeg'],
      ['icc=keep', ['icc=keep', 'icc=KEEP&a=1'], 'tiff'],
      ['f=gif', ['f=gif', 'f=gif&icc=keep', 'f=gif&maxbytes=9&lossless&q=3'], 'jpeg'],
    ] as const) {
      it(`is ${variant} for a ${format} and parameters without effect: ${queries.join(', ')}`, () => {
        for (const query of queries) expect(plan(query, { format }).variant, query).to.equal(variant)
      })
    }

    it('contains a requested drop-in even when all its values are the defaults', async () => {
      const params = `{
        glow: { type: 'integer', min: 1, max: 9, default: 5, help: 'How much' },
        tone: { type: 'enum', values: ['a', 'b'], default: 'a', help: 'Which' },
      }`
      const { transforms } = await loadWith({ 'glow.js': dropIn('glow', { params }) })
      const variants = (...queries: string[]) => queries.map((query) => planOf(transforms, query).variant)
      for (const variant of variants('glow=5', 'tone=a', 'tone=a&glow=5'))
        expect(variant).to.match(/^glow=5&~/)
      for (const variant of variants('tone=b', 'tone=b&glow=5')) expect(variant).to.match(/^tone=b&~/)
      expect(variants('w=9&fit=fill')).to.deep.equal(['w=9'])
      expect(variants('glow=5&fit=fill'), 'a plugin with nothing to do').to.deep.equal(variants('glow=5'))
    })

    it('differs for another value', () => {
      const variants = ['w=100', 'w=101', 'h=100', 'w=100&q=76', 'w=100&f=png'].map(
        (query) => plan(query).variant,
      )
      expect(new Set(variants).size).to.equal(5)
    })

    it('does not contain defaults that were not requested', () => {
      expect(plan('w=100').variant).to.equal('w=100')
    })
  })

  describe('the steps', () => {
    it('are empty without parameters', () => {
      expect(plan('')).to.deep.equal({ steps: [], variant: '', variesBy: [], notes: [] })
    })

    it('are empty when all requested parameters have no effect', async () => {
      const { transforms } = await loadWith({}, { disabled: ['image-orient', 'image-format'] })
      expect(planOf(transforms, 'fit=fill')).to.deep.equal({
        steps: [],
        variant: '',
        variesBy: [],
        notes: [],
      })
    })

    it('are those with a named parameter, and those with always', () => {
      expect(steps(plan('w=100'))).to.deep.equal(['image-orient', 'image-resize', 'image-format'])
      expect(steps(plan('q=50'))).to.deep.equal(['image-orient', 'image-format'])
    })

    it('receive their values by canonical name, with defaults for the rest', () => {
      const [orient, resize, format] = plan('width=100&q=50').steps
      expect(orient?.params).to.deep.equal({})
      expect(resize?.params).to.deep.equal({
        w: 100,
        fit: 'cover',
        dpr: 1,
        func: 'center',
        fx: 0.5,
        fy: 0.5,
        zoom: 1,
      })
      expect(format?.params).to.deep.equal({ q: 50, a: '1', icc: 'srgb', hdr: 'keep' })
      expect(plan('w=1').steps[2]?.params).to.deep.equal({ a: '1', icc: 'srgb', hdr: 'keep' })
    })

    it('are those for the media of the source', async () => {
      const { transforms } = await loadWith({
        'cut.js': dropIn('cut', { media: "['text']", params: "{ w: { type: 'flag', help: 'Cut' } }" }),
      })
      expect(steps(planOf(transforms, 'w', { format: 'txt' }))).to.deep.equal(['cut'])
      expect(steps(planOf(transforms, 'w=5', { format: 'png' }))).to.not.include('cut')
    })

    it('are empty for a flag that is switched off', async () => {
      const { transforms } = await loadWith({ 'glow.js': dropIn('glow') })
      for (const query of ['glow=0', 'glow=false']) {
        expect(planOf(transforms, query), query).to.deep.equal({
          steps: [],
          variant: '',
          variesBy: [],
          notes: [],
        })
      }
      expect(planOf(transforms, 'glow=0&q=5').variant).to.equal('q=5')
      for (const query of ['glow', 'glow=', 'glow=1', 'glow=TRUE']) {
        expect(planOf(transforms, query).variant, query).to.match(/^glow=1&~/)
      }
    })

    it('run in the order of the chain, not of the query', async () => {
      const { transforms } = await loadWith(
        { 'one.js': dropIn('one'), 'two.js': dropIn('two') },
        { order: ['two', 'one'] },
      )
      for (const query of ['one&two', 'two&one']) {
        expect(steps(planOf(transforms, query))).to.deep.equal(['image-orient', 'two', 'one', 'image-format'])
      }
    })
  })

  describe('ignored names', () => {
    for (const query of [
      'utm_source=x',
      'utm_=',
      'utm_campaign=a&utm_medium=b',
      'fbclid=1',
      'gclid=2',
      'v=3',
      '_=4',
      'v=1&v=2',
    ]) {
      it(`include all in ${query}`, () => {
        expect(plan(query).steps).to.be.empty
        expect(plan(`${query}&w=5`).variant).to.equal('w=5')
      })
    }

    it('include those of the configuration, and no others', () => {
      expect(plan('ref=x&w=5', { ignored: ['ref'] }).variant).to.equal('w=5')
      expect(refusal('reff=x', { ignored: ['ref'] }).code).to.equal('unknown_parameter')
    })

    for (const word of ['vv', 'utm', 'xutm_source', 'fbclid2', '__', 'V']) {
      it(`do not include ${word}, which is an unknown parameter`, () => {
        expect(refusal(`${word}=1`).code).to.equal('unknown_parameter')
      })
    }

    it('do not count as parameters, in any number', () => {
      const many = Array.from({ length: 5000 }, (_, i) => `utm_${i}=x`).join('&')
      expect(plan(`${many}&w=5`).variant).to.equal('w=5')
    })
  })

  describe('invalid parameters', () => {
    for (const [word, nearest] of [
      ['widht', 'width'],
      ['WIDTH', 'width'],
      ['heigth', 'height'],
      ['W', 'w'],
      ['qualty', 'quality'],
      ['fits', 'fit'],
      ['dpi', 'dpr'],
    ] as const) {
      it(`are refused with the nearest known name: ${word}`, () => {
        const problem = refusal(`${word}=1`)
        expect(problem).to.include({ status: 400, code: 'unknown_parameter' })
        expect(problem.message).to.equal(
          `there is no parameter "${word}" for image files; did you mean "${nearest}"?`,
        )
        expect(problem.members).to.deep.equal({ param: word, nearest })
      })
    }

    for (const word of [
      'watermark',
      'xyz',
      'qualxyz',
      'x',
      'ww',
      'hw',
      'constructor',
      '__proto__',
      'w'.repeat(3000),
    ]) {
      it(`are refused without a suggestion: ${word.slice(0, 20)}`, () => {
        const problem = refusal(`${word}=1`)
        expect(problem.code).to.equal('unknown_parameter')
        expect(problem.message)
          .to.match(/ for image files; there are [a-z_]+(, [a-z_]+)*$/)
          .and.not.include('mean')
        expect(problem.message).to.have.length.below(900)
        expect(problem.members).to.not.have.property('nearest')
      })
    }

    it('are all parameters for media without a plugin', () => {
      const problem = refusal('w=100', { format: 'zip' })
      expect(problem.message).to.equal(
        'expected an image, or a file that can be shown as one, for w but this file is zip',
      )
      expect(problem.status).to.equal(422)
      expect(plan('v=1', { format: 'zip' }).steps).to.be.empty
    })

    for (const [query, word, received] of [
      ['w=1&w=2', 'w', '1, 2'],
      ['w=5&w=5', 'w', '5, 5'],
      ['w=1&width=2', 'width', '1, 2'],
      ['width=1&w=2', 'w', '1, 2'],
      ['f=png&q=5&format=png', 'format', 'png, png'],
    ] as const) {
      it(`are refused when they are given twice: ${query}`, () => {
        const problem = refusal(query)
        expect(problem).to.include({ status: 400, code: 'bad_parameter' })
        expect(problem.message).to.equal(`expected one value for ${word} but received "${received}"`)
      })
    }

    it('include a flag that is given twice, even when it is off first', async () => {
      const { transforms } = await loadWith({ 'glow.js': dropIn('glow') })
      expect(() => planOf(transforms, 'glow=0&glow=1')).to.throw(Problem, 'expected one value for glow')
    })

    it('are refused under the name that the query uses', () => {
      expect(refusal('width=abc').message).to.equal(
        'expected an integer from 1 to 5000 px or auto for width but received "abc"',
      )
      expect(refusal('w=0').message).to.equal(
        'expected an integer from 1 to 5000 px or auto for w but received "0"',
      )
      expect(refusal('f=bmp').message).to.equal(
        'expected one of jpeg, png, webp, avif, tiff, gif, svg, auto for f but received "bmp"',
      )
    })
  })

  describe('parameters without a shipped plugin', () => {
    for (const query of ['remove_background', 'rm_bg', 'w=5&rm_bg=1', 'remove_background=true']) {
      it(`are a 501 without a drop-in: ${query}`, () => {
        const { status, code, message } = refusal(query)
        expect({ status, code }).to.deep.equal({ status: 501, code: 'not_offered' })
        expect(message).to.match(/^(remove_background|rm_bg) needs a plugin that is not installed/)
      })
    }

    it('have no effect when switched off, and are a 400 with an invalid value', () => {
      expect(plan('rm_bg=0&w=5').variant).to.equal('w=5')
      expect(plan('rm_bg=0').steps).to.be.empty
      expect(refusal('rm_bg=maybe').message).to.equal(
        'expected no value, 1 or 0 for rm_bg but received "maybe"',
      )
      expect(refusal('rm_bg=0&remove_background=0').message).to.include('expected one value')
      expect(refusal('rm_bg', { format: 'zip' })).to.include({ status: 400, code: 'unknown_parameter' })
    })

    it('are normal parameters once a plugin has them, as that plugin defines them', async () => {
      const params = `{
        remove_background: { type: 'enum', values: ['soft', 'hard'], aliases: ['rm_bg'], help: 'How' },
      }`
      const { transforms } = await loadWith({ 'cut-out.js': dropIn('cut-out', { params }) })
      expect(steps(planOf(transforms, 'rm_bg=soft'))).to.include('cut-out')
      expect(() => planOf(transforms, 'rm_bg')).to.throw(Problem, 'expected one of soft, hard for rm_bg')
    })

    it('give a format with transparency, when the plugin makes parts transparent', async () => {
      const params = `{ remove_background: { type: 'flag', aliases: ['rm_bg'], help: 'Removes it' } }`
      const { transforms } = await loadWith({
        'cut-out.js': dropIn('cut-out', { params, transparent: 'true' }),
      })
      const formatOf = (query: string, format: string) =>
        planOf(transforms, query, { format }).steps.at(-1)?.params.f ?? 'that of the source'
      expect(formatOf('rm_bg', 'jpeg')).to.equal('png')
      expect(formatOf('rm_bg', 'webp')).to.equal('that of the source')
      expect(formatOf('rm_bg&f=jpeg', 'png')).to.equal('jpeg')
      expect(formatOf('rm_bg&bg=fff', 'jpeg')).to.equal('that of the source')
      expect(formatOf('rm_bg&f=auto', 'jpeg')).to.equal('png')
      expect(formatOf('w=5&f=auto', 'jpeg')).to.equal('that of the source')
    })
  })

  describe('an SVG', () => {
    it('is delivered unchanged for f=svg alone', () => {
      for (const query of ['f=svg', 'format=SVG', 'f=svg&utm_source=x']) {
        expect(plan(query, { format: 'svg' }), query).to.deep.equal({
          steps: [],
          variant: '',
          variesBy: [],
          notes: [],
        })
      }
    })

    it('accepts no other parameter with f=svg: a 400 that names it', () => {
      for (const [query, name] of [
        ['f=svg&w=10', 'w'],
        ['quality=75&f=svg', 'q'],
        ['f=svg&page=1', 'page'],
      ] as const) {
        const { status, message } = refusal(query, { format: 'svg' })
        expect({ status, message }).to.deep.equal({
          status: 400,
          message: `expected no other parameter with f=svg (the uploaded SVG is delivered unchanged) for ${name} but received "${name}"`,
        })
      }
    })

    it('is the only source for f=svg', () => {
      expect(refusal('f=svg').message).to.equal(
        'expected one of jpeg, png, webp, avif, tiff, gif, auto (svg only for an SVG) for f but received "svg"',
      )
    })
  })

  describe('invalid formats', () => {
    for (const [query, source, message] of [
      [
        'f=heic',
        'heic',
        'expected one of jpeg, png, webp, avif, tiff, gif, svg, auto for f but received "heic"',
      ],
      [
        'lossless',
        'jpeg',
        'expected one of png, webp, avif, tiff, gif, auto with lossless for f but received "jpeg"',
      ],
      [
        'f=jpg&lossless',
        'png',
        'expected one of png, webp, avif, tiff, gif, auto with lossless for f but received "jpeg"',
      ],
      ['page=2', 'jpeg', 'expected 1 (a jpeg has one page) for page but received "2"'],
      ['page=0', 'tiff', 'expected an integer from 1 to 10000 for page but received "0"'],
      ['a=2', 'gif', 'expected one of 0, 1 for a but received "2"'],
    ] as const) {
      it(`include ${query} for a ${source}`, () => {
        const { status, code, message: received } = refusal(query, { format: source })
        expect({ status, code, received }).to.deep.equal({
          status: 400,
          code: 'bad_parameter',
          received: message,
        })
      })
    }
  })

  describe('the configured quality', () => {
    const load = async (quality: unknown) =>
      (await loadWith({}, { options: { 'image-format': { quality } } })).transforms

    it('is the default of a format, and part of the name when requested: it is never lowered then', async () => {
      const transforms = await load({ avif: 50, webp: 60 })
      const variant = (query: string, accept = '') =>
        planOf(transforms, query, { accept }).variant.replace(FINGERPRINT, '')
      expect(variant('f=avif&q=50')).to.equal('f=avif&q=50')
      expect(variant('f=avif&q=75')).to.equal('f=avif&q=75')
      expect(variant('f=avif')).to.equal('f=avif')
    })

    for (const quality of [
      { avif: 0 },
      { webp: 101 },
      { jpeg: 1.5 },
      { tiff: '50' },
      { png: 50 },
      50,
      null,
    ]) {
      it(`is refused at the start when it is ${JSON.stringify(quality)}`, async () => {
        const error = await load(quality).catch((reason) => reason)
        expect(error).to.have.property('name', 'PluginError')
        expect(error.message).to.include(
          `image/output/format.ts: expected an object of jpeg, webp, avif, tiff (each an integer from 1 to 100) for its option quality but received ${JSON.stringify(quality)}`,
        )
      })
    }
  })

  describe('f=auto', () => {
    for (const [accept, source, expected] of [
      ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'jpeg', 'auto'],
      ['image/webp,image/avif', 'png', 'auto'],
      ['image/avif', 'png', 'auto-avif'],
      ['image/webp,*/*', 'jpeg', 'auto-webp'],
      ['IMAGE/WEBP', 'jpeg', 'auto-webp'],
      ['text/html, image/webp ;q=0.9', 'png', 'auto-webp'],
      ['image/*,*/*;q=0.8', 'jpeg', 'jpeg'],
      ['', 'jpeg', 'jpeg'],
      ['', 'png', 'png'],
      ['', 'tiff', 'tiff'],
      ['', 'avif', 'avif'],
      ['image/avif;q=0,image/webp', 'jpeg', 'auto-webp'],
      ['image/avif; q=0.0, image/webp; Q=0', 'jpeg', 'jpeg'],
      ['image/avif;q=0.001', 'jpeg', 'auto-avif'],
      ['image/avif-sequence, image/webpx', 'jpeg', 'jpeg'],
      ['', 'svg', 'png'],
      ['', 'heic', 'jpeg'],
      ['', 'psd', 'png'],
      ['image/webp', 'svg', 'auto-webp'],
      // An animation stays one, and AVIF would end it.
      ['image/avif,image/webp', 'gif', 'auto-webp'],
      ['image/avif', 'gif', 'gif'],
      ['image/avif,image/webp', 'webp', 'webp'],
      ['image/avif', 'webp', 'webp'],
    ] as const) {
      it(`is ${expected} for the source ${source} and Accept "${accept}"`, () => {
        const { variant, variesBy } = plan('w=10&f=auto', { accept, format: source })
        const usual = { svg: 'png', psd: 'png', heic: 'jpeg' }[source as string] ?? source
        expect(variant).to.equal(expected === usual ? 'w=10' : `f=${expected}&w=10`)
        expect(variesBy).to.deep.equal(['accept'])
      })
    }

    it('is the next best format when the best ones are too small for the image', () => {
      const best = (format: string, ...tooSmall: string[]) => {
        const planner = createPlanner(shipped, [])
        const accept = 'image/avif,image/webp'
        return planner({
          query: [['f', 'auto']],
          format: knownFormat(format),
          preferences: { accept },
          tooSmall,
        }).steps.at(-1)?.params.f
      }
      expect(best('jpeg', 'avif')).to.equal('auto-webp')
      expect(best('tiff', 'avif', 'webp', 'jpeg'), 'as it is').to.equal(undefined)
      expect(best('jpeg', 'avif', 'webp', 'jpeg')).to.equal('png')
    })

    it('is a still AVIF when one frame of an animation is requested', () => {
      const options = { accept: 'image/avif,image/webp', format: 'gif' }
      expect(plan('f=auto&a=0', options).variant).to.equal('a=0&f=auto')
      expect(plan('f=auto&page=2', options).variant).to.equal('f=auto&page=2')
      expect(plan('f=auto&a=0', { ...options, accept: 'image/webp' }).variant).to.equal('a=0&f=auto-webp')
    })

    it('is a lossless format with lossless', () => {
      const variant = (accept: string, format = 'jpeg') => plan('f=auto&lossless', { accept, format }).variant
      expect(variant('image/avif,image/webp')).to.equal('f=webp&lossless=1')
      expect(variant('image/avif')).to.equal('f=png&lossless=1')
      expect(variant('', 'avif')).to.equal('lossless=1')
      expect(variant('', 'png')).to.equal('lossless=1')
    })

    it('is a plan without any other parameter', () => {
      const { variant, variesBy } = plan('f=auto', { accept: 'image/webp' })
      expect({ variant, variesBy }).to.deep.equal({ variant: 'f=auto-webp', variesBy: ['accept'] })
    })

    it('makes the response vary by Accept, and no other parameter does', () => {
      for (const query of ['w=10', 'f=webp', 'f=avif&q=5', '']) {
        expect(plan(query, { accept: 'image/avif' }).variesBy, query).to.deep.equal([])
      }
    })
  })

  describe('the fingerprint', () => {
    const load = async (files: Record<string, string> = {}, chain: Partial<ChainSettings> = {}) =>
      (await loadWith(files, chain)).transforms
    const variant = async (query: string, ...loading: Parameters<typeof load>) =>
      planOf(await load(...loading), query).variant

    it('is absent for shipped plugins in the shipped order', async () => {
      const order = ['image-orient', 'image-resize', 'image-format']
      for (const chain of [{}, { order }]) {
        expect(await variant('w=1&f=png', {}, chain)).to.equal('f=png&w=1')
      }
    })

    it('is absent when a drop-in does not take part', async () => {
      expect(await variant('w=1', { 'glow.js': dropIn('glow') })).to.equal('w=1')
    })

    it('is present when a drop-in takes part, requested or with always', async () => {
      expect(await variant('w=1&glow', { 'glow.js': dropIn('glow') })).to.match(FINGERPRINT)
      expect(await variant('w=1', { 'glow.js': dropIn('glow', { always: 'true' }) })).to.match(FINGERPRINT)
    })

    it('is the same while the file is unchanged, wherever it is stored', async () => {
      const texts = { 'glow.js': dropIn('glow') }
      const one = await variant('w=1&glow', texts)
      expect(one).to.match(FINGERPRINT)
      expect(await variant('glow&w=1', texts)).to.equal(one)
      expect(await variant('glow&w=1', { 'sub/other.js': dropIn('glow') })).to.equal(one)
    })

    it('is the same for other values', async () => {
      const transforms = await load({ 'glow.js': dropIn('glow') })
      const [a, b] = ['w=1&glow', 'w=2&glow'].map((query) => planOf(transforms, query).variant.split('~')[1])
      expect(a).to.equal(b)
    })

    it('differs for another text, version, option, name, order or set of steps', async () => {
      const glow = dropIn('glow')
      const params = "{ glow: { type: 'flag', help: 'Does nothing' } }"
      const beam = { 'glow.js': glow, 'beam.js': dropIn('beam', { always: 'true' }) }
      const fingerprints = await Promise.all([
        variant('glow', { 'glow.js': glow }),
        variant('glow', { 'glow.js': `${glow}// edited` }),
        variant('glow', { 'glow.js': dropIn('glow', { version: '2' }) }),
        variant('glow', { 'glow.js': dropIn('glow2', { params }) }),
        variant('glow', { 'glow.js': glow }, { options: { glow: { strength: 1 } } }),
        variant('glow', { 'glow.js': glow }, { options: { glow: { strength: 2 } } }),
        variant('glow', beam),
        variant('glow', beam, { order: ['glow', 'beam'] }),
        variant('glow', { 'glow.js': glow }, { options: { 'image-orient': { x: 1 } } }),
      ])
      for (const one of fingerprints) expect(one).to.match(FINGERPRINT)
      expect(new Set(fingerprints).size).to.equal(fingerprints.length)
    })

    it('is present for shipped plugins with changed options, order or number', async () => {
      const variants = await Promise.all([
        variant('w=1', {}, { options: { 'image-resize': { x: 1 } } }),
        variant('w=1', {}, { options: { 'image-resize': { x: 2 } } }),
        variant('w=1', {}, { order: ['image-format', 'image-resize'] }),
        variant('w=1', {}, { order: ['image-format', 'image-resize', 'image-orient'] }),
        variant('w=1', {}, { disabled: ['image-orient'] }),
        variant('w=1', {}, { disabled: ['image-format'] }),
        variant('w=1', {}, { disabled: ['image-format', 'image-orient'] }),
      ])
      for (const one of variants) expect(one).to.match(FINGERPRINT)
      expect(new Set(variants).size).to.equal(variants.length)
    })

    it('is absent when the changed plugin does not take part', async () => {
      expect(await variant('f=png', {}, { options: { 'image-resize': { x: 1 } } })).to.equal('f=png')
      expect(await variant('f=png', {}, { disabled: ['image-resize'] })).to.equal('f=png')
    })

    it('is present for a later version of a shipped plugin, and differs for each', async () => {
      const variants: string[] = []
      for (const version of ['1', '2', '3']) {
        const { folder, remove } = await dropIns({
          'one.js': dropIn('one', { version }),
          'two.js': dropIn('two'),
        })
        try {
          const folders = [SHIPPED, { ...folder, shipped: true }]
          const { transforms } = await loadPlugins({ folders, engines: ENGINES, chain: CHAIN })
          variants.push(planOf(transforms, 'one').variant)
          expect(planOf(transforms, 'two').variant).to.equal('two=1')
        } finally {
          await remove()
        }
      }
      const [first, second, third] = variants
      expect(first).to.equal('one=1')
      expect(second).to.match(FINGERPRINT)
      expect(third).to.match(FINGERPRINT).and.not.equal(second)
    })
  })

  it('lets a plugin resolve the requested values', async () => {
    const { transforms } = await loadWith({
      'glow.js': dropIn('glow', {
        params: `{
          glow: { type: 'integer', min: 0, max: 9, default: 3, help: 'Glow' },
          glow_how: { type: 'enum', values: ['soft', 'hard'], help: 'How' },
        }`,
        resolve: `({ glow, ...rest }, { format }) => ({ ...rest, glow: glow + 1, glow_how: format.name === 'png' ? 'hard' : undefined })`,
      }),
    })
    const { variant, steps } = planOf(transforms, 'glow=1', { format: 'png' })
    expect(variant).to.match(/^glow=2&glow_how=hard&~/)
    expect(steps.find(({ plugin }) => plugin.name === 'glow')?.params).to.deep.equal({
      glow: 2,
      glow_how: 'hard',
    })
    expect(planOf(transforms, 'glow=1', { format: 'gif' }).variant).to.match(/^glow=2&~/)
  })
})
