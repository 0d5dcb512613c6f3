import { expect } from 'chai'
import type { PresetSettings } from '../../../src/core/clients/rules/rule.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { Problem } from '../../../src/core/problem.ts'
import type { LoadedPlugin } from '../../../src/pipeline/load/load.ts'
import { createPlanner, type PlanInput } from '../../../src/pipeline/plan/plan.ts'
import { checkPresets } from '../../../src/pipeline/plan/presets.ts'
import { rejection } from '../../support/rejection.ts'
import { dropIn, loadWith } from '../load/drop-ins.ts'

const PRESETS: PresetSettings = {
  poster: { thumbnail: true, duration: 20, w: 640 },
  card: { w: 500, h: 250, negate: true },
  still: { thumbnail: true, negate: true },
}

describe('a plan for a video', () => {
  let shipped: readonly LoadedPlugin[] = []
  before(async () => {
    shipped = (await loadWith({})).transforms
  })

  function planOf(query: string, input: Partial<PlanInput> & { transforms?: readonly LoadedPlugin[] } = {}) {
    const { transforms = shipped, ...rest } = input
    const plan = createPlanner(transforms, [], { presets: checkPresets(PRESETS, transforms) })
    return plan({ query: new URLSearchParams(query), format: knownFormat('mp4'), preferences: {}, ...rest })
  }

  function refusal(query: string, input: Parameters<typeof planOf>[1] = {}): Problem {
    try {
      planOf(query, input)
    } catch (error) {
      expect(error).to.be.instanceOf(Problem)
      return error as Problem
    }
    throw new Error(`${query} was accepted`)
  }

  for (const [query, variant] of [
    ['thumbnail', 'thumbnail=1'],
    ['thumbnail=true&duration=0', 'thumbnail=1'],
    ['thumbnail&w=300', 'thumbnail=1&w=300'],
    ['width=300&thumbnail=1', 'thumbnail=1&w=300'],
    ['duration=15&negate&thumbnail', 'duration=15&negate=1&thumbnail=1'],
    // A frame is a JPEG: asking for what it is in any case has no effect.
    ['thumbnail&f=jpg', 'thumbnail=1'],
    ['thumbnail&f=webp', 'f=webp&thumbnail=1'],
    ['preset=poster', 'duration=20&thumbnail=1&w=640'],
    ['preset=poster&h=100&duration=5', 'duration=5&h=100&thumbnail=1&w=640'],
    ['width=300&q_auto', 'q_a=1&w=300'],
    ['f=mp4', 'default'],
    ['format=webm&vertical&mute', 'f=webm&mute=1&vt=1'],
    ['start=0&h=200', 'h=200'],
    ['start=1.5&end=2', 'end=2&start=1.5'],
    ['kf_boost&keyframe=5', 'kf_boost=1'],
    ['kf=5', 'kf=5'],
  ] as const) {
    it(`is named ${variant} for ?${query}`, () => {
      expect(planOf(query).variant).to.equal(variant)
    })
  }

  it('renders the frame first, whatever the order of the chain, with the same name', async () => {
    const files = { 'early.js': dropIn('a-first', { phase: "'prepare'" }) }
    const { transforms } = await loadWith(files, {
      order: ['image-resize', 'video-thumbnail', 'image-orient'],
    })
    const { steps } = planOf('thumbnail&w=10&a_first', { transforms })
    expect(steps[0]?.plugin.name).to.equal('video-thumbnail')
    expect(steps.map(({ plugin }) => plugin.name)).to.include('a-first')
    expect(planOf('thumbnail').steps.map(({ plugin }) => plugin.name)).to.deep.equal([
      'video-thumbnail',
      'image-orient',
      'image-format',
    ])
  })

  it('varies by Accept when the format of the frame depends on it', () => {
    const { variant, variesBy } = planOf('thumbnail&f=auto', { preferences: { accept: 'image/webp' } })
    expect({ variant, variesBy }).to.deep.equal({ variant: 'f=auto-webp&thumbnail=1', variesBy: ['accept'] })
  })

  it('has no step for a thumbnail that is switched off', () => {
    expect(planOf('thumbnail=0').steps).to.deep.equal([])
  })

  for (const [query, expected] of [
    [
      'rotate=90',
      /^there is no parameter "rotate" for video files\. Image parameters need `thumbnail`: use \?thumbnail&rotate=…$/,
    ],
    ['thumbnail=0&negate', /^there is no parameter "negate" for video files/],
    ['preset=still&thumbnail=0', /^there is no parameter "negate" for video files/],
    ['duration=5', /^expected 1 with duration for thumbnail but received none$/],
    ['thumbnail=0&duration=5', /^expected 1 with duration for thumbnail/],
    ['thumbnail&duration=-1', /^expected an integer from 0 to 864000 tenths of a second for duration/],
    [
      'f=webp',
      /^expected one of .* for f but received "webp"\. Image parameters need `thumbnail`: use \?thumbnail&f=…$/,
    ],
    ['f=nonsense', /^expected one of .* for f but received "nonsense"$/],
    ['sepia=1', /^there is no parameter "sepia" for video files; there are thumbnail, duration, start, end/],
    ['thumbnail=yes', /^expected no value, 1 or 0 for thumbnail/],
    ['thumbnail&mute', /^mute cannot be combined with thumbnail: remove one of them$/],
    ['thumbnail&widht=3', /there is no parameter "widht" for video files; did you mean "width"\?/],
    ['preset=card', /^there is no preset "card" for video files/],
    ['w=15', /^expected an integer from 16 to 5000 px for w but received "15"/],
    ['f=ogv', /^expected one of mp4, mov, webm, avi for f but received "ogv"/],
    ['kf=121', /^expected an integer from 1 to 120 frames for kf/],
    ['end=0', /^expected a number from 0.1 to 86400 seconds for end/],
    ['start=2&end=2', /^expected a time after start \(2 s\) for end but received "2"/],
  ] as const) {
    it(`refuses ?${query}`, () => {
      const { status, message } = refusal(query)
      expect(status).to.equal(400)
      expect(message).to.match(expected)
    })
  }

  it('respects the allowed widths of a client', () => {
    const rules = { allowedWidths: [320, 640] }
    expect(planOf('thumbnail&w=300', { rules }).variant).to.equal('thumbnail=1&w=320')
  })

  it('is for videos only', () => {
    const { message } = refusal('thumbnail', { format: knownFormat('png') })
    expect(message).to.match(/there is no parameter "thumbnail" for image files/)
  })

  it('needs unambiguous parameters: plugins of both kinds cannot share a name', async () => {
    const params = `{ duration: { type: 'integer', min: 1, max: 9, help: 'Of something' } }`
    const error = await rejection(loadWith({ 'other.js': dropIn('image-other', { params }) }))
    expect(error)
      .to.have.property('message')
      .that.matches(/the parameter duration is taken by [a-z-]+ for image files/)
  })

  it('can also begin with a drop-in, which declares the format of its output', async () => {
    const members = { engine: "'ffmpeg'", makes: "'png'" }
    const { transforms } = await loadWith({ 'still.js': dropIn('still', members) })
    const { steps, variant } = planOf('still&w=10&f=png', { transforms })
    expect(steps[0]?.plugin.name).to.equal('still')
    expect(variant).to.match(/^still=1&w=10&~/)
    for (const makes of ["'picture'", "'bmp'"]) {
      const wrong = await rejection(loadWith({ 'still.js': dropIn('still', { ...members, makes }) }))
      expect(wrong, makes)
        .to.have.property('message')
        .that.matches(/expected one of jpeg, png, webp, avif, tiff, gif, pdf for makes/)
    }
  })
})
