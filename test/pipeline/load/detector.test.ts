import { expect } from 'chai'
import sharp from 'sharp'
import { formatOfMediaType } from '../../../src/core/media/formats.ts'
import { loadPlugins } from '../../../src/pipeline/load/load.ts'
import { PluginError } from '../../../src/pipeline/load/plugin-error.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { animation, picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { corners, isRed, shareOf } from '../image/geometry/corners.ts'
import { transformed } from '../image/transform.ts'
import { CHAIN, dropIn, dropIns, ENGINES, loadWith, SHIPPED } from './drop-ins.ts'

/** The text of a detector that answers with an expression of `draft` and `context`. */
const detector = (answer: string, members = '') => `export default {
  name: 'faces',
  engine: 'sharp',
  ${members}
  detect: async (draft, context) => { globalThis.seen = context.source; return ${answer} },
}
`

const WITHOUT = { disabled: ['image-faces'] }

/** Boxes in the corner that is blue: below, on the right. */
const BELOW = '[{ left: context.source.width - 20, top: context.source.height - 20, width: 20, height: 20 }]'

describe('a detector plugin', () => {
  let wide: Buffer
  before(async () => {
    wide = await picture({ width: 400, height: 200 })
  })

  const planOf = async (files: Record<string, string>, query: string, chain = {}) => {
    const { transforms, detector: loaded } = await loadWith(files, chain)
    return createPlanner(
      transforms,
      [],
      loaded ? { detector: loaded } : {},
    )({ query: new URLSearchParams(query), format: formatOfMediaType('image/jpeg'), preferences: {} })
  }

  it('determines the crop of func=face', async () => {
    const loaded = await loadWith({ 'faces.js': detector(BELOW) })
    for (const query of ['w=50&h=50', 'ar=1:1', 'z=4', 'z=4&w=50&h=50', 'w=500&h=500&enlarge']) {
      const { bytes } = await transformed(wide, `${query}&func=face`, loaded)
      expect(await corners(bytes), query).to.equal(query.includes('z=4') ? 'bbbb' : 'ggbb')
    }
    expect(await corners((await transformed(wide, 'z=4&func=west', loaded)).bytes)).to.equal('rrww')
  })

  it('receives the upright image at this step, and the first frame of an animation', async () => {
    const seen = () => (globalThis as unknown as { seen: object }).seen
    const loaded = await loadWith({ 'faces.js': detector(BELOW.replaceAll('20', '5')) })
    const photo = await picture({ width: 80, height: 40, format: 'jpeg', orientation: 6 })
    const turned = await transformed(photo, 'z=4&func=face&f=png', { format: 'jpeg', ...loaded })
    expect(seen()).to.include({ width: 40, height: 80, pages: 1 })
    expect(await corners(turned.bytes)).to.equal('gggg')
    await transformed(photo, 'crop=0,0,30,20&z=2&func=face', { format: 'jpeg', ...loaded })
    expect(seen()).to.include({ width: 30, height: 20 })
    const gif = await animation({ width: 60, height: 30 })
    const { metadata } = await transformed(gif, 'w=10&h=10&func=face', { format: 'gif', ...loaded })
    expect(seen()).to.include({ width: 60, height: 30, pages: 1 })
    expect(metadata).to.include({ width: 10, pages: 3 })
  })

  it('may change its draft in any way', async () => {
    const size = `(await draft.resize(4, 3, { fit: 'fill' }).negate().raw().toBuffer()).length === 4 * 3 * 3 ? ${BELOW} : []`
    const { bytes, metadata } = await transformed(
      await sharp(wide).removeAlpha().png().toBuffer(),
      'w=50&h=50&func=face',
      await loadWith({ 'faces.js': detector(size) }),
    )
    expect(metadata).to.include({ width: 50, height: 50 })
    expect(await corners(bytes)).to.equal('ggbb')
  })

  it('without a box inside the image leaves the crop to func=auto', async () => {
    const spot = { create: { width: 60, height: 60, channels: 3 as const, background: '#f04010' } }
    const source = await sharp({ create: { width: 600, height: 300, channels: 3, background: '#708070' } })
      .composite([{ input: spot, left: 500, top: 100 }])
      .png()
      .toBuffer()
    for (const nothing of ['[]', '[{ left: -60, top: 0, width: 50, height: 50 }]']) {
      const loaded = await loadWith({ 'faces.js': detector(nothing) })
      const { bytes } = await transformed(source, 'w=100&h=100&func=face', loaded)
      expect(await shareOf(bytes, isRed)).to.be.above(0.02)
    }
  })

  for (const answer of [
    "'none'",
    '[{ left: 1 }]',
    '[null]',
    '[{ left: 0, top: 0, width: NaN, height: 1 }]',
  ]) {
    it(`that returns ${answer} is reported as broken, not the image`, async () => {
      const loaded = await loadWith({ 'faces.js': detector(answer) })
      const error = await rejection(transformed(wide, 'w=50&h=50&func=face', loaded))
      expect(error).to.have.property('message', 'the plugin image-resize failed')
      expect((error as Error).cause)
        .to.have.property('message')
        .that.matches(/^the detector faces: expected an array of boxes with left, top, width and height/)
    })
  }

  it('is part of the name of derivatives that it influences, and of no others', async () => {
    const one = { 'faces.js': detector(BELOW) }
    const two = { 'faces.js': detector('[]') }
    const face = async (files: Record<string, string>, chain = {}) =>
      (await planOf(files, 'w=50&h=50&func=face', chain)).variant
    expect(await face(one)).to.match(/^func=face&h=50&w=50&~[0-9a-f]{8}$/)
    const options = { options: { faces: { size: 3 } } }
    const names = [await face(one), await face(two), await face(one, options), await face({})]
    expect(new Set(names).size).to.equal(4)
    expect(await face(one)).to.equal(names[0])
    for (const query of ['w=50&h=50', 'w=50&h=50&func=auto', 'w=50&func=face', 'w=50&h=50&func=face&fx=0'])
      expect((await planOf(one, query)).variant, query).to.equal((await planOf({}, query)).variant)
  })

  it('is reported in a note when it is missing', async () => {
    const note = 'func=auto for face: no plugin detects faces'
    expect((await planOf({}, 'w=50&h=50&func=face', WITHOUT)).notes).to.deep.equal([note])
    expect((await planOf({}, 'w=50&func=face', WITHOUT)).notes, 'nothing is cut').to.deep.equal([])
    expect((await planOf({}, 'w=50&h=50&func=auto', WITHOUT)).notes).to.deep.equal([])
    expect((await planOf({ 'faces.js': detector(BELOW) }, 'w=50&h=50&func=face')).notes).to.deep.equal([])
  })

  it('receives its options', async () => {
    const files = {
      'faces.js': detector('context.options.boxes', `options: { boxes: ${JSON.stringify([])} },`),
    }
    const boxes = [{ left: 0, top: 0, width: 20, height: 20 }]
    const loaded = await loadWith(files, { options: { faces: { boxes } } })
    const { bytes } = await transformed(wide, 'w=50&h=50&func=face', loaded)
    expect(await corners(bytes)).to.equal('rrww')
  })

  for (const [what, files, reason] of [
    [
      'has no function',
      { 'a.js': "export default { name: 'a', engine: 'sharp', detect: 1 }" },
      /a function for detect$/,
    ],
    [
      'has no engine',
      { 'a.js': "export default { name: 'a', detect() {} }" },
      /one of sharp, ffmpeg, ffmpeg-audio, office for engine$/,
    ],
    ['has an invalid version', { 'a.js': detector('[]', 'version: 0,') }, /an integer from 1 for version$/],
    ['has invalid options', { 'a.js': detector('[]', 'options: 3,') }, /an object for options$/],
    [
      'has a member of another plugin kind',
      { 'a.js': detector('[]', "phase: 'effect',") },
      /a plugin with "detect" has no member phase/,
    ],
    [
      'transforms as well',
      { 'a.js': dropIn('a', { detect: '() => []' }) },
      /expected detect or transform but it has both/,
    ],
    [
      'is an event plugin as well',
      { 'a.js': detector('[]', 'on: {},') },
      /expected detect or on but it has both/,
    ],
    [
      'is the second one',
      { 'a.js': detector('[]'), 'b.js': detector('[]').replace("'faces'", "'more-faces'") },
      /b\.js: faces is already the detector: disable one of them$/,
    ],
  ] as const) {
    it(`is refused when it ${what}`, async () => {
      const error = await rejection(loadWith(files))
      expect(error).to.be.instanceOf(PluginError).with.property('message').that.matches(reason)
    })
  }

  it('is not loaded when the chain disables it', async () => {
    const loaded = await loadWith({ 'a.js': detector('[]') }, { disabled: ['faces'] })
    expect(loaded.detector?.plugin.name).to.equal('image-faces')
    expect(await loadWith({}, WITHOUT)).to.not.have.property('detector')
  })

  it('replaces that of Sluice', async () => {
    const { detector: loaded } = await loadWith({ 'a.js': detector('[]') })
    expect(loaded?.plugin.name).to.equal('faces')
    const { folder, remove } = await dropIns({ 'a.js': detector('[]') })
    try {
      const set = await loadPlugins({ folders: [folder, SHIPPED], engines: ENGINES, chain: CHAIN })
      expect(set.detector?.plugin.name, 'loaded before it').to.equal('faces')
    } finally {
      await remove()
    }
  })
})
