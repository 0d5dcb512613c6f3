import { expect } from 'chai'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { itLong } from '../../support/sized.ts'

const WIDTH = 75
const HEIGHT = 53

/** An expression for the pixels of a picture, as Chromium has drawn what there is of it: 4 numbers each. */
const drawn = (png: Buffer) => `new Promise((done) => {
  const picture = new Image()
  picture.onload = picture.onerror = () => {
    const canvas = new OffscreenCanvas(${WIDTH}, ${HEIGHT}).getContext('2d')
    canvas.drawImage(picture, 0, 0)
    done([...canvas.getImageData(0, 0, ${WIDTH}, ${HEIGHT}).data])
  }
  picture.src = 'data:image/png;base64,${png.toString('base64')}'
})`

onOneBackend('a truncated PNG that is interlaced', (start) => {
  let tab: Page
  before(async () => {
    tab = await startPage()
  })
  after(() => tab.context().close())

  itLong('is rendered as Chromium draws it', async () => {
    const service = await start()
    const noise = { type: 'gaussian', mean: 128, sigma: 50 } as const
    const size = { width: WIDTH, height: HEIGHT }
    const png = await sharp({ create: { ...size, channels: 3, background: '#000', noise } })
      .png({ progressive: true, compressionLevel: 1 })
      .toBuffer()
    for (const share of [0.1, 0.3, 0.6, 0.9]) {
      const cut = png.subarray(0, Math.round(png.length * share))
      const { src } = await uploadOne(service, { name: 'cut.png', bytes: cut })
      const { status, body } = await exchange(service, `${src}?w=${WIDTH}&h=${HEIGHT}&lossless&f=webp`)
      expect(status).to.equal(200)
      const ours = await sharp(body).ensureAlpha().raw().toBuffer()
      const theirs = Buffer.from((await tab.evaluate(drawn(cut))) as number[])
      expect(ours.equals(theirs), `${share}`).to.equal(true)
    }
  })
})
