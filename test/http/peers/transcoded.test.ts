import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type { Asset } from '../../../src/core/bytes/asset.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually, SLOWNESS } from '../../support/eventually.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { CLIP_SECONDS, clip } from '../../support/peers/clip.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

// From this machine all of a file would be there before anybody seeks.
const FIRST_SHARE = 0.3
const HELD_MS = 2000

/** The first share of a file, and the rest when another part was asked for, or some time later for who seeks by reading on. */
function held(bytes: Readable, { size, isSought }: { size: number; isSought: () => boolean }): Readable {
  let hasEnded = false
  const stream = Readable.from(
    (async function* () {
      let sent = 0
      let until = 0
      for await (const chunk of bytes as AsyncIterable<Buffer>) {
        if (sent > FIRST_SHARE * size) until ||= Date.now() + HELD_MS
        while (Date.now() < until && !isSought() && !hasEnded) await pause(20)
        yield chunk
        sent += chunk.length
      }
    })(),
  )
  return stream.once('close', () => {
    hasEnded = true
    bytes.destroy()
  })
}

/** Goes to some moments of a video, plays it over the tenth second, and tells which colours were there. */
const watch = (src: string, moments: readonly number[]) => `(async () => {
  const video = document.createElement('video')
  video.muted = true
  video.preload = 'metadata'
  // Without CORS no page may look at the pixels.
  video.crossOrigin = 'anonymous'
  const failed = new Promise((_, fail) => {
    video.addEventListener('error', () => fail(new Error(video.error.message)), { once: true })
    setTimeout(() => fail(new Error('it takes too long')), ${40_000 * SLOWNESS})
  })
  const next = (name) => Promise.race([failed, new Promise((done) => video.addEventListener(name, done, { once: true }))])
  const drawn = () => Promise.race([failed, new Promise((done) => video.requestVideoFrameCallback(done))])
  const loaded = next('loadedmetadata')
  video.src = ${JSON.stringify(src)}
  await loaded
  const canvas = document.createElement('canvas').getContext('2d')
  const colour = () => {
    canvas.drawImage(video, 0, 0, 1, 1)
    const [red, , blue] = canvas.getImageData(0, 0, 1, 1).data
    return red > 2 * blue ? 'red' : blue > 2 * red ? 'blue' : 'neither'
  }
  const goTo = async (moment) => {
    const sought = Promise.all([next('seeked'), drawn()])
    video.currentTime = moment
    await sought
    return colour()
  }
  const sought = []
  for (const moment of ${JSON.stringify(moments)}) sought.push(await goTo(moment))
  await goTo(9)
  await video.play()
  const played = [colour()]
  while (video.currentTime < 11) await next('timeupdate')
  await drawn()
  played.push(colour())
  const { duration, videoWidth, videoHeight } = video
  video.removeAttribute('src')
  video.load()
  return { duration: Math.round(duration * 10) / 10, size: videoWidth + 'x' + videoHeight, sought, played }
})()`

onOneBackend('a <video> in Chromium', (start) => {
  let service: Service
  let tab: Page
  let video: WireRecord
  /** Where the parts begin that the service was asked for; undefined for a whole file. */
  let asked: Array<number | undefined>
  before(async () => {
    service = await start({
      env: { MEDIA_JOBS_RUN_IN: 'web' },
      wrapStorage: wrapBuckets((bucket) => ({
        find: async (key, known) => {
          const asset = await bucket.find(key, known)
          if (!asset) return undefined
          const open: Asset['open'] = async (options) => {
            if (!key.includes('_')) return asset.open(options)
            asked.push(options?.range?.start)
            const isSought = () => asked.some((at = 0) => at > 0)
            return held(await asset.open(options), { size: asset.size, isSought })
          }
          return { ...asset, open }
        },
      })),
    })
    const [browser, bytes] = await Promise.all([startPage(), clip()])
    tab = browser
    video = await uploadOne(service, { name: 'clip.mp4', bytes })
  })
  after(() => tab.context().close())

  const OUTPUTS = [
    ['f=mp4&kf=10', '320x180'],
    ['f=webm&kf=10', '320x180'],
    ['w=240&q_a&kf=10', '240x136'],
  ] as const
  for (const [query, size] of sized<ReadonlyArray<(typeof OUTPUTS)[number]>>([], OUTPUTS)) {
    it(`plays ?${query}, and seeks by byte ranges`, async function () {
      this.timeout(120_000)
      const src = `${video.src}?${query}`
      for (let status = 423; status === 423; )
        ({ status } = await fetch(`${src}&wait=30`, { method: 'HEAD' }))
      asked = []
      const before = service.log.lines.length
      expect(await tab.evaluate(watch(src, [18, 2, 15, 9.5, 10.5, 5]))).to.deep.equal({
        duration: CLIP_SECONDS,
        size,
        sought: ['blue', 'red', 'blue', 'red', 'blue', 'red'],
        played: ['red', 'blue'],
      })
      const { pathname } = new URL(src)
      // A line is written when an answer ends: the browser has just left the last of them.
      await eventually(() => {
        const answers = service.log.lines.slice(before).filter(({ fields }) => fields.path === pathname)
        expect(answers.map(({ fields }) => fields.status))
          .to.include(206)
          .and.not.include(200)
      })
      // Without all that is between them. A WebM is small enough for the browser to read on instead.
      if (!query.startsWith('f=webm')) expect(asked.some((at = 0) => at > 0)).to.equal(true)
    })
  }
})
