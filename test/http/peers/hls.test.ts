import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect } from 'chai'
import { onEveryBucket } from '../../support/backends.ts'
import { uploadOne } from '../../support/client.ts'
import { type Chromium, startChromium } from '../../support/peers/chromium.ts'
import { film } from '../../support/videos.ts'

/** Plays a playlist by hls.js, goes to some moments, and tells how long it is, which sizes it has and which colours. */
const watch = (src: string, moments: readonly number[]) => `(async () => {
  const video = document.createElement('video')
  video.muted = true
  const hls = new Hls({ enableWorker: false })
  const failed = new Promise((_, fail) => {
    hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && fail(new Error(details)))
    setTimeout(() => fail(new Error('it takes too long')), 20000)
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

onEveryBucket('hls.js in Chromium', (start) => {
  let chromium: Chromium
  let source: Buffer
  before(async function () {
    this.timeout(60_000)
    const colours = ['red', 'green', 'blue', 'red', 'green', 'blue']
    ;[chromium, source] = await Promise.all([startChromium(), film({ colours, width: 600, height: 450 })])
    const hlsJs = createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js')
    await chromium.evaluate(`${await readFile(hlsJs, 'utf8')};undefined`)
  })
  after(() => chromium.stop())

  it('plays what ?hls leads to, in every size, and seeks', async function () {
    this.timeout(60_000)
    const service = await start({ env: { MEDIA_JOBS_IN: 'web' } })
    const { src } = await uploadOne(service, { name: 'film.mp4', bytes: source })
    const made = await fetch(`${src}?hls&wait=30`, { redirect: 'manual' })
    expect(made.status, await made.text()).to.equal(302)
    expect(await chromium.evaluate(watch(`${src}?hls`, [4.5, 0.5, 2.5, 5.5, 1.5]))).to.deep.equal({
      duration: 6,
      sizes: ['480x360', '600x450'],
      audioCodec: 'mp4a.40.2',
      colours: ['green', 'red', 'blue', 'blue', 'green'],
    })
  })
})
