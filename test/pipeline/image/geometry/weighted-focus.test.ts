import { expect } from 'chai'
import sharp from 'sharp'
import { rejection } from '../../../support/rejection.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { transformed } from '../transform.ts'
import { isRed, shareOf } from './corners.ts'

const isBlack = (r: number, g: number, b: number) => r < 60 && g < 60 && b < 60
const isBlue = (r: number, g: number, b: number) => b > 120 && r < 100 && g < 110

/** Boxes around the blue square, which is a face for this detector. */
const FACES = {
  'faces.js': `export default {
    name: 'faces',
    engine: 'sharp',
    detect: async (draft, { source: { width, height } }) =>
      [{ left: 0.45 * width, top: 0.4 * height, width: 0.1 * width, height: 0.2 * height }],
  }`,
}

describe('focus_weights', () => {
  let poster: Buffer
  before(async () => {
    // Letters on the left, a dull blue face in the middle, a saturated red spot on the right.
    const letters = Array.from(
      { length: 6 },
      (_, i) =>
        `<text x="30" y="${120 + 40 * i}" font-size="30" font-family="DejaVu Sans">WEIGHTS HXE</text>`,
    )
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="400">
      <rect width="1200" height="400" fill="#c8c8c8"/>${letters.join('')}
      <rect x="540" y="160" width="120" height="80" fill="#505a80"/>
      <circle cx="1050" cy="200" r="90" fill="#f02010"/></svg>`
    poster = await sharp(Buffer.from(svg)).png().toBuffer()
  })

  /** What the crop mostly shows. */
  async function shown(query: string, given?: Parameters<typeof transformed>[2]): Promise<string> {
    const { bytes } = await transformed(poster, `w=200&h=200&${query}`, given)
    const shares = {
      text: await shareOf(bytes, isBlack),
      face: await shareOf(bytes, isBlue),
      colour: await shareOf(bytes, isRed),
    }
    const [most] = Object.entries(shares).sort(([, one], [, other]) => other - one)
    return most && most[1] > 0.02 ? most[0] : 'nothing'
  }

  for (const [weights, expected] of [
    ['0,1,0', 'text'],
    ['0,0,1', 'colour'],
    ['0,3,1', 'text'],
    ['0,1,3', 'colour'],
  ] as const)
    it(`of ${weights} show the ${expected}`, async () => {
      expect(await shown(`focus_weights=${weights}`)).to.equal(expected)
      expect(await shown(`focus_weights=${weights}&func=auto`)).to.equal(expected)
    })

  it('of faces use the detector, and need one', async () => {
    const loaded = await loadWith(FACES)
    expect(await shown('focus_weights=5,1,1', loaded)).to.equal('face')
    expect(await shown('focus_weights=1,5,1', loaded)).to.equal('text')
    const refused = await rejection(transformed(poster, 'w=200&h=200&focus_weights=1,1,1'))
    expect(refused).to.include({ status: 501, code: 'not_installed' })
  })

  it('centre the crop on what they find', async () => {
    const { bytes } = await transformed(poster, 'w=100&h=100&zoom=1.5&focus_weights=0,0,1')
    const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    let [x, y, count] = [0, 0, 0]
    for (let i = 0; i < info.width * info.height; i++) {
      const [r = 0, g = 0, b = 0] = data.subarray(3 * i, 3 * i + 3)
      if (!isRed(r, g, b)) continue
      x += i % info.width
      y += Math.floor(i / info.width)
      count += 1
    }
    expect(
      [x / count, y / count].every((at) => at > 42 && at < 58),
      `${x / count}, ${y / count}`,
    ).to.equal(true)
  })

  it('have no effect with another focus or without a crop', async () => {
    const bytesOf = async (query: string) => (await transformed(poster, query)).bytes
    for (const query of ['w=200&h=200&func=west', 'w=200&h=200&fx=0', 'w=200'])
      expect((await bytesOf(`${query}&focus_weights=0,0,1`)).equals(await bytesOf(query)), query).to.equal(
        true,
      )
  })

  it('leave a crop in the middle when the image has nothing of it', async () => {
    const grey = await sharp(poster).greyscale().png().toBuffer()
    const bytesOf = async (query: string) => (await transformed(grey, query)).bytes
    const middle = await bytesOf('w=200&h=200')
    for (const weights of ['0,0,1', '0,0,0'])
      expect((await bytesOf(`w=200&h=200&focus_weights=${weights}`)).equals(middle), weights).to.equal(true)
  })

  it('apply to the first frame of an animation', async () => {
    const frame = await sharp(poster).resize(300, 100).png().toBuffer()
    const second = await sharp(frame).negate().png().toBuffer()
    const gif = await sharp([frame, second], { join: { animated: true } })
      .gif()
      .toBuffer()
    const { bytes, metadata } = await transformed(gif, 'w=50&h=50&focus_weights=0,0,1', { format: 'gif' })
    expect(metadata.pages).to.equal(2)
    expect(await shareOf(bytes, isRed)).to.be.above(0.1)
  })
})
