import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../../support/backends.ts'
import { SLOWNESS } from '../../support/eventually.ts'
import { film } from '../../support/media/videos.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { itLong } from '../../support/sized.ts'

/** Loads a storyboard as players do, and tells when its cues are and which colours their tiles have. */
const look = (src: string) => `(async () => {
  const video = document.createElement('video')
  // Without CORS no page may read a track of another origin, or look at pixels.
  video.crossOrigin = 'anonymous'
  const track = document.createElement('track')
  track.kind = 'metadata'
  const loaded = new Promise((done, fail) => {
    track.addEventListener('load', done, { once: true })
    track.addEventListener('error', () => fail(new Error('the track is not loaded')), { once: true })
    setTimeout(() => fail(new Error('it takes too long')), ${45_000 * SLOWNESS})
  })
  video.append(track)
  document.body.append(video)
  track.track.mode = 'hidden'
  track.src = ${JSON.stringify(src)}
  await loaded
  // Players take what is in a cue as relative to the text's own address, which the fetch of it tells.
  const { url } = await fetch(track.src)
  const canvas = document.createElement('canvas').getContext('2d')
  const cues = []
  for (const { startTime, endTime, text } of track.track.cues) {
    const { href, hash } = new URL(text, url)
    const [x, y, w, h] = hash.replace('#xywh=', '').split(',').map(Number)
    const sprite = new Image()
    sprite.crossOrigin = 'anonymous'
    sprite.src = href
    await sprite.decode()
    canvas.drawImage(sprite, x + 0.75 * w, y + 0.75 * h, 1, 1, 0, 0, 1, 1)
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data
    const colour = red > green + blue ? 'red' : blue > red + green ? 'blue' : green > red + blue ? 'green' : 'none'
    const isWithin = x + w <= sprite.naturalWidth && y + h <= sprite.naturalHeight
    cues.push([startTime, Math.round(endTime), colour, isWithin])
  }
  video.remove()
  return cues
})()`

onOneBackend('a storyboard in Chromium', (start) => {
  let tab: Page
  before(async () => {
    tab = await startPage()
  })
  after(() => tab.context().close())

  itLong('is a track whose cues link to the tiles of a sprite', async () => {
    const service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
    const colours = Array.from({ length: 12 }, (_, i) => ['red', 'green', 'blue'][i % 3] ?? '')
    const bytes = await film({ colours, width: 320, height: 180 })
    const { src } = await uploadOne(service, { name: 'film.mp4', bytes })
    const made = await fetch(`${src}?storyboard&wait=30`, { redirect: 'manual' })
    expect(made.status, await made.text()).to.equal(302)
    expect(await tab.evaluate(look(`${src}?storyboard`))).to.deep.equal(
      colours.map((colour, i) => [i, i + 1, colour, true]),
    )
  })
})
