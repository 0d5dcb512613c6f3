import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../../support/backends.ts'
import { eventually, LONG_MS, SLOWNESS } from '../../support/eventually.ts'
import { film, longFilm } from '../../support/media/videos.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { PROJECT } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

interface Played {
  first: { at: number; isLive: boolean; lasts: number }
  isLive: boolean
  lasts: number
  at: number
}

/** Plays a playlist by hls.js, goes to some moments, and tells how long it is, which sizes it has and which colours. */
const watch = (src: string, moments: readonly number[]) => `(async () => {
  const video = document.createElement('video')
  video.muted = true
  const hls = new Hls({ enableWorker: false })
  const failed = new Promise((_, fail) => {
    hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && fail(new Error(details)))
    setTimeout(() => fail(new Error('it takes too long')), ${45_000 * SLOWNESS})
  })
  const next = (name) => new Promise((done) => video.addEventListener(name, done, { once: true }))
  const loaded = next('loadeddata')
  hls.loadSource(${JSON.stringify(src)})
  hls.attachMedia(video)
  await Promise.race([loaded, failed])
  const canvas = document.createElement('canvas').getContext('2d')
  const colours = []
  for (const moment of ${JSON.stringify(moments)}) {
    const sought = Promise.all([next('seeked'), new Promise((done) => video.requestVideoFrameCallback(done))])
    video.currentTime = moment
    await Promise.race([sought, failed])
    canvas.drawImage(video, video.videoWidth - 1, video.videoHeight - 1, 1, 1, 0, 0, 1, 1)
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data
    colours.push(red > green + blue ? 'red' : blue > red + green ? 'blue' : green > red + blue ? 'green' : 'none')
  }
  video.currentTime = 3.5
  await Promise.race([next('seeked'), failed])
  await video.play()
  // Over the end of a segment.
  while (video.currentTime < 4.5) await Promise.race([next('timeupdate'), failed])
  const { duration } = video
  const sizes = hls.levels.map(({ width, height }) => width + 'x' + height).sort()
  const audioCodec = hls.levels[0].audioCodec
  hls.destroy()
  return { duration: Math.round(duration * 10) / 10, sizes, audioCodec, colours }
})()`

/**
 * Begins to play what is still being made, and goes on to its end: at which moment it began, and how long it was to be then
 * and at last.
 */
const playFromTheStart = (src: string) => `(async () => {
  const video = document.createElement('video')
  video.muted = true
  const hls = new Hls({ enableWorker: false })
  const failed = new Promise((_, fail) => {
    hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && fail(new Error(details)))
    setTimeout(() => fail(new Error('it takes too long, at ' + video.currentTime)), ${150_000 * SLOWNESS})
  })
  const next = (name) => new Promise((done) => video.addEventListener(name, done, { once: true }))
  const details = []
  hls.on(Hls.Events.LEVEL_LOADED, (_, data) => details.push(data.details))
  const began = next('playing')
  hls.loadSource(${JSON.stringify(src)})
  hls.attachMedia(video)
  await Promise.race([video.play(), failed])
  await Promise.race([began, failed])
  const first = { at: video.currentTime, isLive: details[0].live, lasts: details[0].totalduration }
  window.hasBegun = true
  // No need to see all of it: what is in the buffer is played fast.
  video.playbackRate = 4
  await Promise.race([next('ended'), failed])
  const last = details.at(-1)
  const at = video.currentTime
  hls.destroy()
  return { first, isLive: last.live, lasts: last.totalduration, at }
})()`

onOneBackend('hls.js in Chromium', (start) => {
  let tab: Page
  let source: Buffer
  before(async () => {
    const colours = ['red', 'green', 'blue', 'red', 'green', 'blue']
    ;[tab, source] = await Promise.all([startPage(), film({ colours, width: 600, height: 450 })])
    const hlsJs = createRequire(join(PROJECT, 'dashboard', 'package.json')).resolve('hls.js/dist/hls.min.js')
    await tab.evaluate(`${await readFile(hlsJs, 'utf8')};undefined`)
  })
  after(() => tab.context().close())

  it('plays ?hls in every size, and seeks', async function () {
    this.timeout(120_000)
    const service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
    const { src } = await uploadOne(service, { name: 'film.mp4', bytes: source })
    await eventually(
      async () => {
        const { status, headers, body } = await exchange(service, `${src}?hls&wait=30`)
        expect(status, String(body)).to.equal(302)
        // A playlist that still grows has none.
        expect(headers['cache-control']).to.include('max-age')
      },
      { withinMs: LONG_MS },
    )
    expect(await tab.evaluate(watch(`${src}?hls`, [4.5, 0.5, 2.5, 5.5, 1.5]))).to.deep.equal({
      duration: 6,
      sizes: ['480x360', '600x450'],
      audioCodec: 'mp4a.40.2',
      colours: ['green', 'red', 'blue', 'blue', 'green'],
    })
  })

  itLong('plays a stream from its beginning during the transcode, up to its end', async function () {
    this.timeout(180_000)
    const long = await longFilm()
    const puts: string[] = []
    const isEnough = () =>
      puts.filter((key) => /-sound-\d+\.m4s$/.test(key)).length >= 5 &&
      puts.some((key) => key.endsWith('/live.m3u8')) &&
      /(live|sound)\.m3u8$/.test(puts.at(-1) ?? '')
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const service = await start({
      env: { MEDIA_JOBS_RUN_IN: 'web' },
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, ...rest) {
          await bucket.put(key, ...rest)
          puts.push(key)
          // Nothing more comes until it plays: there is enough of it to begin elsewhere.
          if (isEnough()) await released
        },
      })),
    })
    const { src } = await uploadOne(service, { name: 'film.mp4', bytes: long })
    const made = await fetch(`${src}?hls&wait=30`, { redirect: 'manual' })
    expect(made.status, await made.text()).to.equal(302)
    await eventually(() => expect(isEnough()).to.equal(true), { withinMs: LONG_MS })
    const played = tab.evaluate(playFromTheStart(`${src}?hls`)) as Promise<Played>
    await eventually(async () => expect(await tab.evaluate('window.hasBegun')).to.equal(true))
    release()
    const { first, isLive, lasts, at } = await played
    expect(first.isLive).to.equal(true)
    expect(first.at).to.be.below(1)
    expect(first.lasts).to.be.below(29)
    expect(isLive).to.equal(false)
    expect(lasts).to.be.closeTo(30, 0.5)
    expect(at).to.be.closeTo(30, 0.5)
  })
})
