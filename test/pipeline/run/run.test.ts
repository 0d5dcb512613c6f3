import { expect } from 'chai'
import sharp, { type Sharp } from 'sharp'
import { readAll } from '../../../src/core/bytes/asset.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import type { ParameterSpecs } from '../../../src/core/plugin-api/parameter.ts'
import type {
  Engine,
  EngineName,
  TransformContext,
  TransformPlugin,
} from '../../../src/core/plugin-api/plugin.ts'
import { badParameter, Problem } from '../../../src/core/problem.ts'
import type { ImageOpening } from '../../../src/engines/image/source.ts'
import { createPlanner, type Plan, type Step } from '../../../src/pipeline/plan/plan.ts'
import { createRunner } from '../../../src/pipeline/run/run.ts'
import { sharpEngine } from '../../support/media/engines.ts'
import { animation, colourAt, picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { assetOf, context, transform } from '../image/transform.ts'
import { dropIn, loadWith } from '../load/drop-ins.ts'

/** The sharp engine, counting. */
function countingEngine() {
  const calls = { opened: 0, rendered: 0, openings: [] as unknown[] }
  const engine: Engine<'sharp'> = {
    ...sharpEngine,
    open(asset, opening, context) {
      calls.opened += 1
      calls.openings.push(opening)
      return sharpEngine.open(asset, opening, context)
    },
    render(draft, context) {
      calls.rendered += 1
      return sharpEngine.render(draft, context)
    },
  }
  return { calls, engines: new Map<EngineName, Engine>([['sharp', engine]]) }
}

/** A step made by hand. `transform` gets what a plugin gets. */
function step(
  name: string,
  members: Partial<TransformPlugin<ParameterSpecs, 'sharp'>> = {},
  rest: Partial<Step> = {},
): Step {
  const plugin: TransformPlugin<ParameterSpecs, 'sharp'> = {
    name,
    engine: 'sharp',
    phase: 'effect',
    params: {},
    transform: () => undefined,
    ...members,
  }
  return {
    plugin: plugin as TransformPlugin,
    media: ['image'],
    options: {},
    fingerprint: undefined,
    params: {},
    ...rest,
  }
}

const planOf = (...steps: Step[]): Plan => ({ steps, variant: 'x', variesBy: [], notes: [] })

describe('running a plan', () => {
  let png: Buffer
  before(async () => {
    png = await picture({ width: 60, height: 40 })
  })

  it('decodes once and encodes once for three plugins', async () => {
    const { calls, engines } = countingEngine()
    const outcome = await transform({ query: 'w=30&h=20&f=webp&q=80', source: assetOf(png, 'png'), engines })
    expect(outcome.metadata).to.include({ format: 'webp', width: 30, height: 20 })
    expect(calls).to.include({ opened: 1, rendered: 1 })

    const { transforms } = await loadWith({ 'one.js': dropIn('one'), 'two.js': dropIn('two') })
    await transform({ query: 'w=30&one&two&f=webp&q=80', source: assetOf(png, 'png'), engines, transforms })
    expect(calls).to.include({ opened: 2, rendered: 2 })
  })

  describe('a step that renders for inspection', () => {
    const seen: number[] = []
    const looking = (rest: (image: Sharp) => Sharp) =>
      step('looks', {
        async transform(image, _, { render }) {
          const draft = (image as Sharp).webp({ quality: 50 })
          seen.push((await render(draft)).size)
          return rest(draft)
        },
      })

    it('has its render reused when its draft is the output', async () => {
      const { calls, engines } = countingEngine()
      const plan = planOf(looking((draft) => draft))
      const asset = await createRunner(engines)(plan, assetOf(png, 'png'), context())
      expect(calls).to.include({ opened: 1, rendered: 1 })
      expect(asset).to.include({ mediaType: 'image/webp', size: seen.at(-1) })
    })

    it('has its render discarded when it, or a later step, edits the draft again', async () => {
      const { calls, engines } = countingEngine()
      const later = step('png', { transform: (image) => (image as Sharp).png() })
      for (const plan of [
        planOf(looking((draft) => draft.clone().png())),
        planOf(
          looking((d) => d),
          later,
        ),
      ]) {
        const asset = await createRunner(engines)(plan, assetOf(png, 'png'), context())
        expect(asset.mediaType).to.equal('image/png')
      }
      expect(calls).to.include({ opened: 2, rendered: 4 })
    })
  })

  it('does not cause a second read of the source', async () => {
    let opened = 0
    const source = assetOf(png, 'png')
    const counted = {
      ...source,
      open: (...args: Parameters<typeof source.open>) => {
        opened += 1
        return source.open(...args)
      },
    }
    await transform({ query: 'w=30&h=20&q=5&f=jpeg', source: counted })
    expect(opened).to.equal(1)
  })

  it('returns an asset with size and media type that can be opened again', async () => {
    const asset = await createRunner(countingEngine().engines)(
      planOf(step('to-webp', { transform: (image) => image.webp() })),
      assetOf(png, 'png'),
      context(),
    )
    expect(asset.mediaType).to.equal('image/webp')
    const [first, second] = [await readAll(asset), await readAll(asset)]
    expect(first).to.have.length(asset.size)
    expect(second).to.deep.equal(first)
  })

  it('runs the steps in order, each on the previous draft, with its own values, options and the source', async () => {
    const seen: Array<[string, unknown, unknown, TransformContext<'sharp'>]> = []
    const note = (name: string) =>
      step(
        name,
        {
          transform(draft, params, ctx) {
            seen.push([name, draft, params, ctx])
            return name === 'second' ? sharp(png).negate().png() : undefined
          },
        },
        { params: { of: name }, options: { mine: name } },
      )
    const given = context()
    await createRunner(countingEngine().engines)(
      planOf(note('first'), note('second'), note('third')),
      assetOf(png, 'png'),
      given,
    )
    expect(seen.map(([name]) => name)).to.deep.equal(['first', 'second', 'third'])
    const [one, two, three] = seen
    expect(two?.[1], 'the same draft, since the first answered with none').to.equal(one?.[1])
    expect(three?.[1], "the second's draft in its place").to.not.equal(two?.[1])
    for (const [name, , params, ctx] of seen) {
      expect(params).to.deep.equal({ of: name })
      expect(ctx.options).to.deep.equal({ mine: name })
      const { file, ...facts } = ctx.source
      expect(file).to.include({ bytes: png.length, width: 60, height: 40 })
      expect(facts).to.deep.equal({
        width: 60,
        height: 40,
        pages: 1,
        hasAlpha: true,
        format: 'png',
        dpr: 1,
        reduction: 1,
      })
      expect(ctx).to.include({ signal: given.signal, limits: given.limits, log: given.log })
    }
  })

  it('renders the draft that a drop-in returns', async () => {
    const { transforms } = await loadWith({
      // As a drop-in may: it waits, and makes a new draft of the old one's pixels.
      'inset.js': dropIn('inset', {
        transform: `async (image) => {
          const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
          return image.constructor(data, { raw: info }).extend({ left: 7, background: '#00f' })
        }`,
      }),
    })
    const { metadata, bytes } = await transform({
      query: 'inset&f=png',
      source: assetOf(png, 'png'),
      transforms,
    })
    expect(metadata).to.include({ width: 67, height: 40 })
    expect(await colourAt(bytes, 3, 20)).to.deep.equal({ r: 0, g: 0, b: 255, a: 255 })
    expect(await colourAt(bytes, 10, 3)).to.deep.equal({ r: 255, g: 0, b: 0, a: 255 })
  })

  it('applies the edits of a drop-in', async () => {
    const { transforms } = await loadWith({
      'opposite.js': dropIn('opposite', { transform: '(image) => image.negate({ alpha: false })' }),
    })
    const { bytes } = await transform({ query: 'opposite&f=png', source: assetOf(png, 'png'), transforms })
    expect(await colourAt(bytes, 2, 2)).to.deep.equal({ r: 0, g: 255, b: 255, a: 255 })
    const plain = await transform({ query: 'opposite=0&f=png', source: assetOf(png, 'png'), transforms })
    expect(await colourAt(plain.bytes, 2, 2)).to.deep.equal({ r: 255, g: 0, b: 0, a: 255 })
  })

  it('passes values and options to a drop-in', async () => {
    const { transforms } = await loadWith(
      {
        'frame.js': dropIn('frame', {
          params: "{ frame: { type: 'integer', min: 1, max: 50, aliases: ['border'], help: 'Frame' } }",
          options: "{ background: '#000000', unused: true }",
          transform: `(image, { frame }, { options }) =>
            image.extend({ top: frame, bottom: frame, left: frame, right: frame, background: options.background })`,
        }),
      },
      { options: { frame: { background: '#00ff00' } } },
    )
    const { metadata, bytes } = await transform({
      query: 'border=5&f=png',
      source: assetOf(png, 'png'),
      transforms,
    })
    expect(metadata).to.include({ width: 70, height: 50 })
    expect(await colourAt(bytes, 1, 1)).to.deep.equal({ r: 0, g: 255, b: 0, a: 255 })
  })

  it('merges the openings of the steps, which get format and values of the source', async () => {
    const { calls, engines } = countingEngine()
    const told: unknown[] = []
    const opening = (answer: Partial<ImageOpening>) => (params: unknown, request: unknown) => {
      told.push(params, request)
      return answer
    }
    await createRunner(engines)(
      planOf(
        step('a', { opening: opening({ frames: 'all' }) }, { params: { a: 1 } }),
        step('b'),
        step('c', { opening: opening({ frames: 'first' }) }, { params: { c: 2 } }),
        step('d', { opening: opening({}) }),
      ),
      assetOf(png, 'png'),
      context(),
    )
    expect(calls.openings).to.deep.equal([{ frames: 'first' }])
    const format = knownFormat('png')
    expect(told).to.deep.equal([{ a: 1 }, { format }, { c: 2 }, { format }, {}, { format }])
  })

  describe('a plugin with newPass', () => {
    /** One turns everything red, the other takes away red: which is later shows. */
    const redThenNone = (members: Record<string, string>) => ({
      'fill.js': dropIn('fill', { transform: '(image) => image.linear([0, 0, 0], [255, 0, 0])' }),
      'take.js': dropIn('take', {
        transform: '(image) => image.recomb([[0, 0, 0], [0, 1, 0], [0, 0, 1]])',
        ...members,
      }),
    })
    const red = async (members: Record<string, string>, order: string[] = []) => {
      const { transforms } = await loadWith(redThenNone(members), { order })
      const source = assetOf(png, 'png')
      const { bytes } = await transform({ query: 'fill&take&w=30&f=png', source, transforms })
      expect(await sharp(bytes).metadata()).to.include({ width: 30, height: 20 })
      return (await colourAt(bytes, 20, 15)).r
    }

    it('runs after the earlier steps, where sharp would use an order of its own', async () => {
      expect(await red({}), 'sharp takes away first').to.equal(255)
      expect(await red({ newPass: 'true' })).to.equal(0)
      expect(await red({ newPass: 'true' }, ['take', 'fill']), 'the chain decides').to.equal(255)
    })

    it('receives the current facts about the image', async () => {
      const { transforms } = await loadWith({
        'tell.js': dropIn('tell', {
          newPass: 'true',
          transform: '(image, _, { source }) => { globalThis.told = source }',
        }),
      })
      const told = async (source: Parameters<typeof assetOf>) => {
        const { metadata } = await transform({ query: 'w=30&tell', source: assetOf(...source), transforms })
        expect(metadata.format).to.equal(source[1] === 'svg' ? 'png' : source[1])
        const { file: _, ...facts } = (globalThis as unknown as { told: { file?: object } }).told
        return facts
      }
      const still = { width: 30, height: 20, pages: 1, reduction: 2 }
      const jpeg = await picture({ width: 60, height: 40, format: 'jpeg' })
      expect(await told([jpeg, 'jpeg'])).to.deep.equal({ ...still, hasAlpha: false, format: 'jpeg', dpr: 1 })
      expect(await told([png, 'png'])).to.deep.equal({ ...still, hasAlpha: true, format: 'png', dpr: 1 })
      const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="6"/>')
      expect(await told([svg, 'svg']), 'pixels by now').to.deep.equal({
        ...still,
        hasAlpha: true,
        dpr: 1,
        reduction: 1,
        format: 'png',
      })
    })

    it('preserves the frames of an animation and their durations', async () => {
      const frames = await animation({ width: 60, height: 40 })
      const gif = await sharp(frames, { animated: true })
        .gif({ delay: [100, 200, 300], loop: 2 })
        .toBuffer()
      const { transforms } = await loadWith({ 'glow.js': dropIn('glow', { newPass: 'true' }) })
      const { metadata, bytes } = await transform({
        query: 'w=30&glow',
        source: assetOf(gif, 'gif'),
        transforms,
      })
      expect(metadata).to.deep.include({
        format: 'gif',
        pages: 3,
        width: 30,
        delay: [100, 200, 300],
        loop: 2,
      })
      for (const [page, colour] of [
        { r: 255, g: 0, b: 0, a: 255 },
        { r: 0, g: 255, b: 0, a: 255 },
      ].entries())
        expect(await colourAt(await sharp(bytes, { page }).png().toBuffer(), 15, 10)).to.deep.equal(colour)
    })
  })

  describe('an error in a plan', () => {
    for (const [what, transformStep] of [
      ['throws', "() => { throw new TypeError('oops') }"],
      ['rejects', "async () => { throw new TypeError('oops') }"],
    ] as const) {
      it(`names the plugin that ${what}, with the cause`, async () => {
        const { transforms } = await loadWith({ 'bad.js': dropIn('bad-one', { transform: transformStep }) })
        const { calls, engines } = countingEngine()
        const error = await rejection(
          transform({ query: 'bad_one&w=5', source: assetOf(png, 'png'), transforms, engines }),
        )
        expect(error).to.be.instanceOf(Error).and.not.instanceOf(Problem)
        expect(error).to.have.property('message', 'the plugin bad-one failed')
        expect(error).to.have.nested.property('cause.message', 'oops')
        expect(calls.rendered).to.equal(0)
      })
    }

    it('names the steps, with the cause, when the edits of a plugin fail in the render', async () => {
      const { transforms } = await loadWith({
        'bad.js': dropIn('bad-one', {
          transform: '(image) => image.extract({ left: 0, top: 0, width: 500, height: 500 })',
        }),
      })
      const error = await rejection(transform({ query: 'bad_one', source: assetOf(png, 'png'), transforms }))
      expect(error).to.be.instanceOf(Error).and.not.instanceOf(Problem)
      expect(error).to.have.property('message', 'rendering image-orient, bad-one, image-format failed')
      expect(error).to.have.nested.property('cause.message').that.includes('extract_area')
    })

    it('is blamed on the image when a plugin fails on a broken one', async () => {
      const { transforms } = await loadWith({
        'eager.js': dropIn('eager', {
          transform: 'async (image) => { await image.clone().raw().toBuffer() }',
        }),
      })
      const error = await rejection(
        transform({ query: 'eager', source: assetOf(png.subarray(0, -60), 'png'), transforms }),
      )
      expect(error).to.be.instanceOf(Problem).with.property('message').that.includes('can be decoded')
    })

    it('is passed on unchanged when a plugin throws a problem', async () => {
      const problem = badParameter({ param: 'x', expected: 'less', received: 'more' })
      const run = createRunner(countingEngine().engines)
      const refusing = step('refusing', {
        transform: () => {
          throw problem
        },
      })
      expect(await rejection(run(planOf(refusing), assetOf(png, 'png'), context()))).to.equal(problem)
    })

    it('stops the plan between two steps when the caller aborts', async () => {
      const controller = new AbortController()
      const reason = new Error('nobody waits')
      let reached = false
      const leaving = step('leaving', { transform: () => controller.abort(reason) as undefined })
      const next = step('next', {
        transform: () => {
          reached = true
          return undefined
        },
      })
      const { calls, engines } = countingEngine()
      const run = createRunner(engines)
      const error = await rejection(
        run(planOf(leaving, next), assetOf(png, 'png'), context({ signal: controller.signal })),
      )
      expect(error).to.equal(reason)
      expect(reached).to.equal(false)
      expect(calls.rendered).to.equal(0)
    })

    it('does not occur for an aborted caller: the source is not read', async () => {
      const { engines } = countingEngine()
      const reason = new Error('left')
      const signal = AbortSignal.abort(reason)
      const error = await rejection(
        createRunner(engines)(planOf(step('a')), assetOf(png, 'png'), context({ signal })),
      )
      expect(error).to.equal(reason)
    })

    it('names a missing engine', async () => {
      const run = createRunner(new Map())
      const error = await rejection(run(planOf(step('a')), assetOf(png, 'png'), context()))
      expect(error).to.have.property('message', 'there is no engine called sharp')
    })
  })

  it('a change of engine renders and opens again, and only there', async () => {
    const { calls, engines } = countingEngine()
    const events: string[] = []
    // A second engine, whose draft is text: it wraps the picture into an SVG of its own.
    const wrapping = {
      name: 'wrapping',
      media: ['image'],
      async open(asset: { mediaType: string }) {
        events.push(`open ${asset.mediaType}`)
        return { draft: '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="90">', source: {} }
      },
      async render(draft: string) {
        events.push('render')
        return assetOf(Buffer.from(`${draft}</svg>`), 'svg')
      },
    } as unknown as Engine
    const both = new Map([...engines, ['wrapping' as EngineName, wrapping]])
    const painted = (name: string, colour: string) =>
      step(name, {
        engine: 'wrapping' as never,
        transform: ((draft: string) => `${draft}<rect width="30" height="90" fill="${colour}"/>`) as never,
      })
    const formats: string[] = []
    const sized = (name: string, width: number) =>
      step(name, {
        opening: (_: unknown, { format }: { format: { name: string } }) => {
          formats.push(format.name)
          return {}
        },
        transform: (image) => image.resize(width).png(),
      })
    const asset = await createRunner(both)(
      planOf(sized('a', 50), sized('b', 40), painted('c', '#f00'), painted('d', '#00f'), sized('e', 10)),
      assetOf(png, 'png'),
      context(),
    )
    expect(events).to.deep.equal(['open image/png', 'render'])
    expect(calls).to.include({ opened: 2, rendered: 2 })
    expect(formats).to.deep.equal(['png', 'png', 'svg'])
    const bytes = await readAll(asset)
    expect(await sharp(bytes).metadata()).to.include({ width: 10, height: 30, format: 'png' })
    expect(await colourAt(bytes, 5, 5)).to.deep.equal({ r: 0, g: 0, b: 255, a: 255 })
  })

  it('a planned query runs without an adapter in between', async () => {
    const { transforms } = await loadWith({})
    const plan = createPlanner(
      transforms,
      [],
    )({ query: [['w', '30']], format: knownFormat('png'), preferences: {} })
    const asset = await createRunner(countingEngine().engines)(plan, assetOf(png, 'png'), context())
    expect(await sharp(await readAll(asset)).metadata()).to.include({ width: 30, height: 20, format: 'png' })
  })
})
