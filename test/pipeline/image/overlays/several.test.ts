import { expect } from 'chai'
import sharp from 'sharp'
import { Problem } from '../../../../src/core/problem.ts'
import { colourAt } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { assetOf, transformed } from '../transform.ts'

const plain = (background: string, width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer()

async function at(bytes: Buffer, x: number, y: number): Promise<number[]> {
  return Object.values(await colourAt(bytes, x, y)).slice(0, 3)
}

const key = (letter: string) => `image/png/${letter.repeat(22)}.png`

describe('several overlays', () => {
  it('lays up to three watermarks over the image, the last one on top', async () => {
    const assets = {
      [key('r')]: assetOf(await plain('#ff0000', 10, 10), 'png'),
      [key('g')]: assetOf(await plain('#00ff00', 10, 10), 'png'),
      [key('b')]: assetOf(await plain('#0000ff', 10, 10), 'png'),
    }
    const { bytes } = await transformed(
      await plain('#ffffff', 100, 100),
      `wm=${key('r')}&wm_pos=nw&wm_size=40&wm2=${key('g')}&wm2_pos=nw&wm2_size=20&wm3=${key('b')}&wm3_pos=se&wm3_size=10&wm3_margin=5`,
      { assets },
    )
    for (const [x, y, expected] of [
      [5, 5, [0, 255, 0]],
      [30, 30, [255, 0, 0]],
      [50, 50, [255, 255, 255]],
      [94, 94, [0, 0, 255]],
      [85, 85, [0, 0, 255]],
      [96, 96, [255, 255, 255]],
    ] as const)
      expect(await at(bytes, x, y), `${x}, ${y}`).to.deep.equal(expected)
  })

  it('names the watermark that cannot be used', async () => {
    const assets = { [key('r')]: assetOf(Buffer.from('no image'), 'png') }
    const error = await rejection(transformed(await plain('#ffffff', 20, 20), `wm2=${key('r')}`, { assets }))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422 })
    expect(error).to.have.property('message').that.includes('wm2')
  })

  it('draws up to three texts', async () => {
    const { bytes } = await transformed(
      await plain('#000000', 300, 200),
      'text=HHH&text_pos=north&text2=HHH&text2_pos=center&text3=HHH&text3_pos=south&text3_color=f00',
    )
    const inkIn = async (top: number, channel: number) => {
      const part = await sharp(bytes)
        .removeAlpha()
        .extract({ left: 0, top, width: 300, height: 66 })
        .toBuffer()
      return (await sharp(part).stats()).channels[channel]?.max
    }
    expect([await inkIn(0, 1), await inkIn(66, 1), await inkIn(133, 1), await inkIn(133, 0)]).to.deep.equal([
      255, 255, 0, 255,
    ])
  })
})

describe('lines and the box of image-text', () => {
  const ink = async (query: Record<string, string>, background = '#000000') => {
    const { bytes } = await transformed(await plain(background, 400, 300), String(new URLSearchParams(query)))
    const { info } = await sharp(bytes)
      .removeAlpha()
      .trim({ background })
      .toBuffer({ resolveWithObject: true })
    const left = -(info.trimOffsetLeft ?? 0)
    return { bytes, width: info.width, height: info.height, left, right: 400 - left - info.width }
  }

  it('breaks lines where the text does', async () => {
    const one = await ink({ text: 'HHH' })
    for (const text of ['HHH\nHHH\nHHH', 'HHH\r\nHHH\r\nHHH']) {
      const three = await ink({ text })
      expect(three.width).to.be.closeTo(one.width, 1)
      expect(three.height).to.be.within(3 * one.height, 6 * one.height)
    }
  })

  it('aligns the lines as requested, whatever the position', async () => {
    const inkOfFirstLine = async (text_align: string) => {
      const { bytes, left } = await ink({ text: 'H\nHHHHHHHH', text_align })
      const first = await sharp(bytes)
        .removeAlpha()
        .extract({ left: 0, top: 100, width: 400, height: 45 })
        .toBuffer()
      const { info } = await sharp(first).trim({ background: '#000' }).toBuffer({ resolveWithObject: true })
      return -(info.trimOffsetLeft ?? 0) - left
    }
    const [left, center, right] = [
      await inkOfFirstLine('left'),
      await inkOfFirstLine('center'),
      await inkOfFirstLine('right'),
    ]
    expect(left).to.be.at.most(2)
    expect(center).to.be.above(left + 20)
    expect(right).to.be.above(center + 20)
  })

  it('draws a box behind the text, with padding', async () => {
    const letters = await ink({ text: 'HHH' })
    const box = await ink({ text: 'HHH', text_bg: 'f00', text_pad: '20' })
    expect(box.width).to.be.within(letters.width + 38, letters.width + 48)
    expect(await at(box.bytes, box.left + 5, 150)).to.deep.equal([255, 0, 0])
    expect(Math.abs(box.left - box.right)).to.be.at.most(3)
    const bare = await ink({ text: 'HHH', text_bg: 'f00', text_pad: '0' })
    expect(bare.width).to.be.within(letters.width, letters.width + 8)
  })

  it('shrinks text and padding into a small image', async () => {
    const { metadata } = await transformed(
      await plain('#000000', 30, 12),
      'text=A+long+text+for+a+small+image&text_bg=fff&text_pad=200',
    )
    expect(metadata).to.include({ width: 30, height: 12 })
  })
})
