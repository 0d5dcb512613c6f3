import { expect } from 'chai'
import { Problem } from '../../../../src/core/problem.ts'
import { animation, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { transformed } from '../transform.ts'
import { corners } from './corners.ts'

describe('image-crop', () => {
  let wide: Buffer
  before(async () => {
    wide = await picture({ width: 400, height: 200 })
  })

  for (const [query, width, height, shown] of [
    ['crop=0,0,400,200', 400, 200, 'rgbw'],
    ['crop=0,0,100,100', 100, 100, 'rrrr'],
    ['crop=300,0,100,100', 100, 100, 'gggg'],
    ['crop=150,50,100,100', 100, 100, 'rgbw'],
    ['crop=199,150,50,50', 50, 50, undefined],
    ['crop=0,100,1,1', 1, 1, 'wwww'],
    // What lies outside is cut off.
    ['crop=300,150,1000,1000', 100, 50, 'bbbb'],
    ['crop=399,199,9,9', 1, 1, 'bbbb'],
    ['crop=0,0,50000000,50000000', 400, 200, 'rgbw'],
    // Later steps receive the cropped image.
    ['crop=150,50,100,100&w=40', 40, 40, 'rgbw'],
    ['crop=150,50,100,100&w=400', 100, 100, 'rgbw'],
    ['crop=100,50,200,100&w=50&h=50', 50, 50, 'rgbw'],
    ['crop=100,50,200,100&w=50&h=50&func=west', 50, 50, 'rrww'],
    ['crop=100,50,200,100&w=50&h=50&func=east', 50, 50, 'ggbb'],
    ['crop=100,50,200,100&w=400&h=400&func=east&enlarge', 400, 400, 'ggbb'],
    ['crop=100,50,200,100&h=30&z=2', 60, 30, 'rgbw'],
  ] as const) {
    it(`crops 400 x 200 to ${width} x ${height} for ${query}`, async () => {
      const { bytes, metadata } = await transformed(wide, query)
      expect([metadata.width, metadata.height]).to.deep.equal([width, height])
      if (shown) expect(await corners(bytes)).to.equal(shown)
    })
  }

  for (const box of ['400,0,10,10', '0,200,10,10', '5000,5000,1,1']) {
    it(`refuses a rectangle outside the image: ${box}`, async () => {
      const error = await rejection(transformed(wide, `crop=${box}`))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400, code: 'bad_parameter' })
      expect(error).to.have.property(
        'message',
        `expected x and y within the 400 x 200 px of this image for crop but received "${box}"`,
      )
    })
  }

  for (const value of [
    '',
    '1',
    '1,2,3',
    '1,2,3,4,5',
    '-1,0,5,5',
    '0,0,0,5',
    '0,0,5,0',
    'a,b,c,d',
    '1.5,0,5,5',
    '0,0,5,5,',
  ]) {
    it(`refuses ${JSON.stringify(value)}`, async () => {
      const error = await rejection(transformed(wide, `crop=${value}`))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400, code: 'bad_parameter' })
      expect(error).to.have.property(
        'message',
        `expected 4 integers x,y,w,h (x and y from 0 to 50000000, w and h from 1 to 50000000 px) for crop but received "${value}"`,
      )
    })
  }

  for (const format of ['gif', 'webp'] as const) {
    it(`crops every frame of a ${format}`, async () => {
      const moving = await animation({ width: 40, height: 30, format })
      for (const [query, width, height] of [
        ['crop=10,10,20,10', 20, 10],
        ['crop=10,10,20,10&w=10', 10, 5],
        ['crop=30,20,90,90&w=5&h=5&func=north', 5, 5],
      ] as const) {
        const { bytes, metadata } = await transformed(moving, query, { format })
        expect(metadata, query).to.include({ pages: 3, format, width })
        expect(metadata.pageHeight ?? metadata.height).to.equal(height)
        expect(await corners(bytes)).to.equal('rrrr')
      }
    })
  }
})
