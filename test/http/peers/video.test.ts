import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type { Asset } from '../../../src/core/bytes/asset.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { SLOWNESS } from '../../support/eventually.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { CLIP_SECONDS, clip } from '../../support/peers/clip.ts'
import { startNginx } from '../../support/peers/nginx.ts'
import { startVarnish } from '../../support/peers/varnish.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'
import { everyNth, sized } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

/** Loads a video into a page, goes to some moments, and tells how long it is and which colours are there. */
const watch = (src: string, moments: readonly number[]) => `(async () => {
  const video = document.createElement('video')
  video.muted = true
  video.preload = 'metadata'
  // Without CORS no page may look at the pixels.
  video.crossOrigin = 'anonymous'
  const next = (name) => new Promise((done, fail) => {
    video.addEventListener(name, done, { once: true })
    video.addEventListener('error', () => fail(new Error(video.error.message)), { once: true })
    setTimeout(() => fail(new Error('no ' + name)), ${45_000 * SLOWNESS})
  })
  const loaded = next('loadedmetadata')
  video.src = ${JSON.stringify(src)}
  await loaded
  const canvas = document.createElement('canvas').getContext('2d')
  const colours = []
  for (const moment of ${JSON.stringify(moments)}) {
    const sought = Promise.all([next('seeked'), new Promise((done) => video.requestVideoFrameCallback(done))])
    video.currentTime = moment
    await sought
    canvas.drawImage(video, 0, 0, 1, 1)
    const [red, , blue] = canvas.getImageData(0, 0, 1, 1).data
    colours.push(red > 2 * blue ? 'red' : blue > 2 * red ? 'blue' : 'neither')
  }
  const { duration, videoWidth, videoHeight } = video
  video.removeAttribute('src')
  video.load()
  return { duration, videoWidth, videoHeight, colours }
})()`

onOneOrTwoBackends('a <video> in Chromium seeks', (start, backend) => {
  let service: Service
  let nginx: Awaited<ReturnType<typeof startNginx>>
  let varnish: Awaited<ReturnType<typeof startVarnish>> | undefined
  let tab: Page
  let bytes: Buffer
  let video: WireRecord
  /** Where the parts begin that the service was asked for. */
  let asked: number[]
  before(async () => {
    service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        find: async (key, known) => {
          const asset = await bucket.find(key, known)
          if (!asset) return undefined
          const open: Asset['open'] = (options) => {
            // A browser continues an earlier video for a moment.
            if (key === video.s3PathOriginal) asked.push(options?.range?.start ?? 0)
            return asset.open(options)
          }
          return { ...asset, open }
        },
      })),
    })
    ;[nginx, varnish, tab, bytes] = await Promise.all([
      startNginx(service),
      sized(undefined, startVarnish)?.(service),
      startPage(),
      clip(),
    ])
  })
  after(() => Promise.all([nginx.stop(), varnish?.stop(), tab.context().close()]))
  beforeEach(async () => {
    asked = []
    // Random for each run, so that it is in no cache.
    video = await uploadOne(service, { name: 'clip.mp4', bytes })
  })

  const ways: Array<[way: string, url: () => string, options?: { keepsWhole: boolean }]> = [
    ['straight from the service', () => service.url],
    ['through nginx', () => nginx.passing.url],
    ['through nginx with proxy_cache', () => nginx.caching.url, { keepsWhole: true }],
    ['through nginx with slice', () => nginx.slicing.url],
    ['through Varnish', () => String(varnish?.caching.url), { keepsWhole: true }],
  ]
  for (const [way, url, { keepsWhole } = { keepsWhole: false }] of everyNth(3, ways)) {
    // What has kept the whole video, does not ask the bucket. Without a cache, nginx asks for what the browser does.
    if ((keepsWhole || way === 'through nginx') && backend !== EMBEDDED) continue

    it(way, async () => {
      const src = video.src.replace(service.url, url())
      // To the end, back, to the end again: the second time from whatever has been kept on the way.
      for (const time of ['first', 'second']) {
        expect(await tab.evaluate(watch(src, [18, 2, 15, 5])), time).to.deep.equal({
          duration: CLIP_SECONDS,
          videoWidth: 320,
          videoHeight: 180,
          colours: ['blue', 'red', 'blue', 'red'],
        })
      }
      if (keepsWhole) return
      // The index at the end, after a little of the beginning, without all that is between them: the slices would be 40.
      expect(asked.findIndex((at) => at > 0.9 * bytes.length)).to.be.within(0, 10)
    })
  }
})
