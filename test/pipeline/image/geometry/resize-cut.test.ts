import { expect } from 'chai'
import sharp from 'sharp'
import { formatOfMediaType } from '../../../../src/core/media/formats.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { createPlanner } from '../../../../src/pipeline/plan/plan.ts'
import { animation, colourAt, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { everyNth, sized } from '../../../support/sized.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { transformed } from '../transform.ts'
import { corners, isRed, shareOf } from './corners.ts'

/** Nine fields of 100 x 100, of nine reds: 0, 30, 60 in the first row. */
async function fields(): Promise<Buffer> {
  const all = Array.from({ length: 9 }, (_, i) => ({
    input: {
      create: { width: 100, height: 100, channels: 3 as const, background: { r: i * 30, g: 0, b: 0 } },
    },
    left: (i % 3) * 100,
    top: Math.floor(i / 3) * 100,
  }))
  return sharp({ create: { width: 300, height: 300, channels: 3, background: '#000' } })
    .composite(all)
    .png()
    .toBuffer()
}

/** Grey noise with one bright, colourful spot. */
async function spotted(left: number, top: number, { width = 600, height = 300 } = {}): Promise<Buffer> {
  const spot = { create: { width: 60, height: 60, channels: 3 as const, background: '#f04010' } }
  return sharp({ create: { width, height, channels: 3, background: '#708070' } })
    .composite([{ input: spot, left, top }])
    .png()
    .toBuffer()
}

describe('crops by image-resize', () => {
  let nine: Buffer
  before(async () => {
    nine = await fields()
  })

  /** Which of the nine fields is shown, 0 to 8. */
  const fieldOf = async (bytes: Buffer) => {
    const { width = 0, height = 0 } = await sharp(bytes).metadata()
    const { r } = await colourAt(bytes, Math.floor(width / 2), Math.floor(height / 2))
    return Math.round(r / 30)
  }

  for (const [query, field] of [
    ['', 4],
    ['&func=center', 4],
    ['&func=northwest', 0],
    ['&func=north', 1],
    ['&func=top', 1],
    ['&func=n', 1],
    ['&func=NE', 2],
    ['&func=w', 3],
    ['&func=east', 5],
    ['&func=southwest', 6],
    ['&func=bottom', 7],
    ['&func=se', 8],
    ['&fx=0', 3],
    ['&fy=1', 7],
    ['&fx=0.1&fy=0.9', 6],
    ['&fx=1&fy=0', 2],
    // A point says more than a direction.
    ['&fx=1&fy=0&func=south', 2],
  ] as const) {
    it(`keep field ${field} of a 3 x 3 grid for z=3${query}`, async () => {
      for (const size of sized(['w=50'], ['w=50', 'w=50&h=50', 'w=100', 'w=150&enlarge', ''])) {
        const { bytes, metadata } = await transformed(nine, `z=3&${size}${query}`)
        const side = size.includes('150') ? 150 : size.includes('50') ? 50 : 100
        expect([metadata.width, metadata.height], size).to.deep.equal([side, side])
        expect(await fieldOf(bytes), size).to.equal(field)
        // Nothing of its neighbours within: its edges are as its middle.
        for (const [x, y] of [
          [3, 3],
          [side - 4, side - 4],
        ] as const)
          expect((await colourAt(bytes, x, y)).r, `${size} at ${x}`).to.be.closeTo(field * 30, 3)
      }
    })
  }

  it('follow the direction', async () => {
    const wide = await picture({ width: 400, height: 200 })
    for (const [query, shown] of [
      ['func=west', 'rrww'],
      ['func=e', 'ggbb'],
      ['func=right', 'ggbb'],
      ['func=north', 'rgbw'],
      ['fx=0', 'rrww'],
      ['fx=0.999', 'ggbb'],
      ['fx=0&z=2&fy=0', 'rrrr'],
    ] as const) {
      const usual = ['w=80&h=80', 'ar=1:1']
      for (const size of [...usual, ...sized([], ['w=1000&h=1000', 'w=250&h=250&enlarge', 'w=50&ar=1:1'])]) {
        const { bytes, metadata } = await transformed(wide, `${size}&${query}`)
        expect(metadata.width, `${size} ${query}`).to.equal(metadata.height)
        expect(await corners(bytes), `${size} ${query}`).to.equal(shown)
      }
    }
  })

  for (const [query, width, height] of [
    ['ar=1:1', 200, 200],
    ['ar=4:1', 400, 100],
    ['ar=1.5:1', 300, 200],
    ['ar=16:9', 356, 200],
    ['ar=16:9&w=160', 160, 90],
    ['ar=16:9&h=90', 160, 90],
    ['ar=16:9&w=160&dpr=2', 320, 180],
    ['ar=1:1&w=100&fit=contain', 100, 100],
    ['ar=1:1&w=100&fit=inside', 100, 50],
    ['ar=1:1&w=5000', 200, 200],
    ['ar=1:1&w=100&h=50', 100, 50],
    ['w=800&enlarge', 800, 400],
    ['w=5000&enlarge=0', 400, 200],
    ['w=800&h=800&enlarge', 800, 800],
    ['w=800&h=800&fit=inside&enlarge', 800, 400],
    ['w=600&h=100&fit=cover', 400, 67],
    ['w=600&h=100&fit=crop', 400, 100],
    ['w=100&h=600&fit=crop', 100, 200],
    ['w=600&h=600&fit=crop', 400, 200],
    ['w=100&h=50&fit=crop', 100, 50],
    ['w=300&h=100&dpr=2&fit=crop', 400, 133],
    ['w=600&h=100&dpr=2&fit=crop', 400, 100],
    ['w=600&h=100&fit=crop&enlarge', 600, 100],
    ['crop=0,0,200,200&w=300&h=100&fit=crop', 200, 100],
    ['w=600&fit=crop', 400, 200],
    ['z=2', 200, 100],
    ['z=2.5&w=5000', 160, 80],
    ['z=1&w=100', 100, 50],
    // Large outputs.
    ...sized<ReadonlyArray<readonly [string, number, number]>>(
      [],
      [
        ['ar=1:1&w=1000&enlarge', 1000, 1000],
        ['h=5000&enlarge', 5000, 2500],
        ['w=800&h=800&fit=fill&enlarge', 800, 800],
        ['w=300&h=300&fit=outside&enlarge', 600, 300],
        ['w=800&h=800&fit=contain&enlarge', 800, 800],
        ['w=400&dpr=3&enlarge', 1200, 600],
      ],
    ),
  ] as const) {
    it(`turn 400 x 200 into ${width} x ${height} for ${query}`, async () => {
      const { metadata } = await transformed(await picture({ width: 400, height: 200 }), query)
      expect([metadata.width, metadata.height]).to.deep.equal([width, height])
    })
  }

  it('enlarge with fit=contain, in the middle of the box', async () => {
    const { bytes } = await transformed(
      await picture({ width: 40, height: 20 }),
      'w=80&h=80&fit=contain&enlarge',
    )
    const { info } = await sharp(bytes).trim({ background: '#0000' }).toBuffer({ resolveWithObject: true })
    expect(info).to.include({ width: 80, height: 40, trimOffsetTop: -20 })
  })

  for (const [query, message] of [
    [
      'ar=1:100&w=100',
      'expected a ratio that keeps w and h from 1 to 5000 px for ar but received "1:100 (100 x 10000 px)"',
    ],
    [
      'ar=100:1&w=10',
      'expected a ratio that keeps w and h from 1 to 5000 px for ar but received "100:1 (10 x 0 px)"',
    ],
    ['ar=16', 'expected 2 numbers w:h (from 0.001 to 5000) for ar but received "16"'],
    ['ar=0:1', 'expected 2 numbers w:h (from 0.001 to 5000) for ar but received "0:1"'],
    ['ar=16/9', 'expected 2 numbers w:h (from 0.001 to 5000) for ar but received "16/9"'],
    ['z=0.5', 'expected a number from 1 to 10 for z but received "0.5"'],
    ['zoom=11', 'expected a number from 1 to 10 for zoom but received "11"'],
    ['fx=1.1', 'expected a number from 0 to 1 for fx but received "1.1"'],
    ['fy=-0.1', 'expected a number from 0 to 1 for fy but received "-0.1"'],
    ['w=9&enlarge=2', 'expected no value, 1 or 0 for enlarge but received "2"'],
  ] as const) {
    it(`refuse ${query}`, async () => {
      const error = await rejection(transformed(nine, query))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400, code: 'bad_parameter' })
      expect(error).to.have.property('message', message)
    })
  }

  it('crop and shrink an image that is larger than an output may be', async () => {
    const long = await picture({ width: 6000, height: 300, format: 'jpeg' })
    for (const [query, width, height] of everyNth(3, [
      ['ar=18:1', 5400, 300],
      ['z=1.1', 5455, 273],
      ['h=200', 4000, 200],
      ['h=300', 5000, 250],
      ['w=5000&h=5000&fit=outside', 5000, 250],
    ] as const)) {
      const { metadata } = await transformed(long, query, { format: 'jpeg' })
      expect([metadata.width, metadata.height], query).to.deep.equal([width, height])
    }
  })

  it('enlarge no animation above the pixel limit of all frames', async () => {
    const moving = await animation({ width: 40, height: 30 })
    const error = await rejection(transformed(moving, 'w=5000&h=5000&enlarge', { format: 'gif' }))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422 })
    expect(error).to.have.property('message').that.includes('75000000')
    const { metadata } = await transformed(moving, 'w=80&enlarge', { format: 'gif' })
    expect(metadata).to.include({ width: 80, pages: 3 })
  })

  it('enlarge a part, however large the complete image would be', async () => {
    // The complete image would have 32,000 x 8000 px.
    const long = await picture({ width: 200, height: 800, format: 'jpeg', orientation: 6 })
    const { metadata } = await transformed(long, 'z=10&w=800&h=800&fx=0&enlarge&f=png', { format: 'jpeg' })
    expect(metadata).to.include({ width: 800, height: 800 })
  })

  describe('func=auto', () => {
    for (const [where, left, top] of [
      ['left', 20, 120],
      ['right', 520, 120],
      ['middle', 270, 120],
    ] as const) {
      it(`keeps the most salient part: ${where}`, async () => {
        const source = await spotted(left, top)
        const others = ['ar=1:1', 'w=100&h=100&z=2', 'w=400&h=400&enlarge']
        for (const query of ['w=100&h=100', 'z=3', ...sized([], others)]) {
          const { bytes } = await transformed(source, `${query}&func=auto`)
          expect(await shareOf(bytes, isRed), query).to.be.above(query.includes('z=') ? 0.1 : 0.03)
        }
      })
    }

    it('keeps it in an animation, by its first frame', async () => {
      const frames = await Promise.all([spotted(500, 100), spotted(500, 120), spotted(500, 140)])
      const moving = await sharp(frames, { join: { animated: true } })
        .webp({ lossless: true })
        .toBuffer()
      const { metadata, bytes } = await transformed(moving, 'w=100&h=100&func=auto', { format: 'webp' })
      expect(metadata).to.include({ pages: 3, width: 100 })
      expect(await shareOf(bytes, isRed)).to.be.above(0.03)
    })
  })

  describe('have one key for one result', () => {
    it('for an SVG, which is drawn in any size, with enlarge and without', async () => {
      const plan = createPlanner((await loadWith({})).transforms, [])
      const format = formatOfMediaType('image/svg+xml')
      const planned = plan({ query: new URLSearchParams('w=900&enlarge'), format, preferences: {} })
      expect(planned.variant).to.equal('w=900')
    })

    for (const [variant, ...queries] of [
      ['w=100', 'w=100&func=north', 'w=100&fx=0.1', 'w=100&func=auto', 'w=100&func=face', 'w=100&z=1'],
      [
        'h=90&w=160',
        'w=160&ar=16:9',
        'h=90&ar=16:9',
        'w=160&ar=32:18',
        'w=160&h=90&ar=3:1',
        'ar=16:9&w=160&fx=0.5',
      ],
      [
        'ar=16,9',
        'ar=16:9',
        'ar=32:18',
        'ar=1.6:0.9',
        'ar=16:9&dpr=2',
        'ar=16:9&fit=contain',
        'ar=16:9&enlarge',
      ],
      [
        'fx=0&h=10&w=10',
        'w=10&h=10&func=west',
        'w=10&h=10&func=left',
        'w=10&h=10&fx=0',
        'w=10&h=10&fx=0&func=auto',
      ],
      ['h=10&w=10', 'w=10&h=10&func=center', 'w=10&h=10&func=c', 'w=10&h=10&fx=0.5', 'w=10&h=10&enlarge=0'],
      ['func=auto&h=10&w=10', 'w=10&h=10&func=auto', 'w=10&h=10&func=face', 'w=10&h=10&func=smart'],
      ['fit=contain&h=10&w=10', 'w=10&h=10&fit=contain&func=north'],
      ['default', 'func=auto', 'fx=0.3', 'enlarge', 'z=1', 'func=face'],
    ] as const) {
      it(`${variant}: ${queries.join(', ')}`, async () => {
        const { transforms } = await loadWith({})
        const plan = createPlanner(transforms, [])
        for (const query of queries) {
          const format = formatOfMediaType('image/jpeg')
          const planned = plan({ query: new URLSearchParams(query), format, preferences: {} })
          expect(planned.variant, query).to.equal(variant)
        }
      })
    }
  })
})
