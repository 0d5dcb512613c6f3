import { expect } from 'chai'
import { picture } from '../../../support/media/images.ts'
import { dropIn, loadWith } from '../../load/drop-ins.ts'
import { transformed } from '../transform.ts'
import { corners } from './corners.ts'

// What a viewer shows of a picture whose stored corners are red, green, blue and white, clockwise from the top left.
// See EXIF 2.32, tag 0x0112.
const UPRIGHT = [
  [1, 'rgbw', 'upright'],
  [2, 'grwb', 'mirrored'],
  [3, 'bwrg', 'upside down'],
  [4, 'wbgr', 'mirrored and upside down'],
  [5, 'rwbg', 'mirrored and lying'],
  [6, 'wrgb', 'lying on its left side'],
  [7, 'bgrw', 'mirrored and lying the other way'],
  [8, 'gbwr', 'lying on its right side'],
] as const

describe('image-orient', () => {
  for (const [orientation, shown, what] of UPRIGHT) {
    const turned = orientation >= 5
    const size = (width: number, height: number) => (turned ? [height, width] : [width, height])

    it(`turns a photo upright that is ${what}: orientation ${orientation}`, async () => {
      const photo = await picture({ width: 80, height: 40, format: 'jpeg', orientation })
      const { bytes, metadata } = await transformed(photo, 'q=90', { format: 'jpeg' })
      expect(await corners(bytes)).to.equal(shown)
      expect([metadata.width, metadata.height]).to.deep.equal(size(80, 40))
      expect(metadata.orientation).to.equal(undefined)
    })

    it(`resizes by the upright sides: orientation ${orientation}`, async () => {
      const photo = await picture({ width: 80, height: 40, format: 'jpeg', orientation })
      const { bytes, metadata } = await transformed(photo, 'w=20&f=png', { format: 'jpeg' })
      expect(await corners(bytes)).to.equal(shown)
      expect([metadata.width, metadata.height]).to.deep.equal(turned ? [20, 40] : [20, 10])

      // Larger than the photo: the box of this shape that the upright photo fills.
      const large = await transformed(photo, 'w=400&h=100&f=png', { format: 'jpeg' })
      expect([large.metadata.width, large.metadata.height]).to.deep.equal(turned ? [40, 10] : [80, 20])
    })
  }

  it('runs before every other step, wherever it is in the chain', async () => {
    const photo = await picture({ width: 80, height: 40, format: 'jpeg', orientation: 6 })
    const early = {
      'early.js': dropIn('early', {
        phase: "'prepare'",
        // Cuts to the upper half; what is before the first pixels is lost, the orientation as well.
        transform: `async (image, _, { source: { width, height } }) => {
          const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
          return image.constructor(data, { raw: info }).extract({ left: 0, top: 0, width, height: height / 2 })
        }`,
      }),
    }
    for (const order of [[], ['early', 'image-orient'], ['image-orient', 'early']]) {
      const { transforms } = await loadWith(early, { order })
      const { bytes, metadata } = await transformed(photo, 'early&f=png', { format: 'jpeg', transforms })
      expect([metadata.width, metadata.height], order.join()).to.deep.equal([40, 40])
      expect((await corners(bytes)).slice(0, 2), order.join()).to.equal('wr')
    }
  })

  it('removes the metadata', async () => {
    const photo = await picture({ width: 80, height: 40, format: 'jpeg', orientation: 6 })
    for (const query of ['q=90', 'f=png', 'f=webp', 'f=avif', 'f=tiff']) {
      const { metadata } = await transformed(photo, query, { format: 'jpeg' })
      expect(metadata, query).to.not.have.any.keys('exif', 'icc', 'xmp', 'iptc')
      expect(metadata.orientation ?? 1, query).to.equal(1)
    }
  })
})
