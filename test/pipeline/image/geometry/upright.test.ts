import { expect } from 'chai'
import { picture } from '../../../support/media/images.ts'
import { sized } from '../../../support/sized.ts'
import { transformed } from '../transform.ts'
import { corners } from './corners.ts'

// What a viewer shows of a picture whose stored corners are red, green, blue and white, clockwise from the top left, by
// its EXIF orientation. See EXIF 2.32, tag 0x0112.
const UPRIGHT = ['rgbw', 'grwb', 'bwrg', 'wbgr', 'rwbg', 'wrgb', 'bgrw', 'gbwr']

/** The corners of a picture that is changed, by those of the one that is not: `2301` is turned by 180 degrees. */
const by = (places: string) => (shown: string) => [...places].map((place) => shown[Number(place)]).join('')
const same = by('0123')

// The stored picture is 80 x 40, so the upright one is 80 x 40 or 40 x 80; sizes are given for both.
const STEPS: ReadonlyArray<
  readonly [query: string, lying: string, standing: string, shown?: (upright: string) => string]
> = [
  ['w=20', '20x10', '20x40', same],
  ['h=20', '40x20', '10x20', same],
  ['w=20&h=20', '20x20', '20x20', same],
  ['w=20&h=20&fit=contain&f=webp&bg=000', '20x20', '20x20', () => 'kkkk'],
  ['w=20&h=20&fit=fill', '20x20', '20x20', same],
  ['w=20&h=20&fit=inside', '20x10', '10x20', same],
  ['w=20&h=20&fit=outside', '40x20', '20x40', same],
  ['w=200&enlarge', '200x100', '200x400', same],
  ['w=30&h=30&enlarge&dpr=2', '60x60', '60x60', same],
  ['ar=1:1', '40x40', '40x40', same],
  ['ar=2:1&w=20', '20x10', '20x10', same],
  ['w=10&h=10&z=2', '10x10', '10x10', same],
  ['z=2&fx=0&fy=0', '40x20', '20x40', by('0000')],
  ['z=2&fx=1&fy=0&w=10&h=10', '10x10', '10x10', by('1111')],
  ['z=2&func=se', '40x20', '20x40', by('2222')],
  ['z=4&func=southwest&w=100&h=100&enlarge', '100x100', '100x100', by('3333')],
  ['w=20&h=20&func=auto', '20x20', '20x20'],
  ['crop=0,0,20,20', '20x20', '20x20', by('0000')],
  ['crop=5,5,70,70&w=10', '10x5', '10x20'],
  ['crop=0,0,20,20&w=10&rotate=90', '10x10', '10x10', by('0000')],
  ['trim', '80x40', '40x80', same],
  ['rotate=90', '40x80', '80x40', by('3012')],
  ['rotate=180&w=20', '20x10', '20x40', by('2301')],
  ['rotate=270', '40x80', '80x40', by('1230')],
  ['flip', '80x40', '40x80', by('3210')],
  ['flop&h=20', '40x20', '10x20', by('1032')],
  ['rotate=90&flip', '40x80', '80x40', by('2103')],
  ['pad=5&bg=000', '90x50', '50x90', () => 'kkkk'],
  ['radius=50&bg=000', '80x40', '40x80', () => 'kkkk'],
  ['radius=1', '80x40', '40x80', same],
  ['rotate=45&bg=000', '85x85', '85x85', () => 'kkkk'],
]

describe('a photo is upright', () => {
  for (const [query, lying, standing, shown] of STEPS) {
    it(`after ${query}, for each orientation`, async () => {
      for (const [i, upright] of UPRIGHT.entries()) {
        const orientation = i + 1
        // One that lies and is mirrored, one that stands, and for the first step all.
        if (sized(query !== 'w=20' && orientation !== 4 && orientation !== 6, false)) continue
        const photo = await picture({ width: 80, height: 40, format: 'jpeg', orientation })
        const asked = /\bf=/.test(query) ? query : `${query}&f=png`
        const { bytes, metadata } = await transformed(photo, asked, { format: 'jpeg' })
        const size = `${metadata.width}x${metadata.height}`
        const expected = orientation >= 5 ? standing : lying
        expect(size, `orientation ${orientation}`).to.equal(expected)
        expect(metadata.orientation ?? 1).to.equal(1)
        if (shown) expect(await corners(bytes), `orientation ${orientation}`).to.equal(shown(upright))
      }
    })
  }
})
