import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { loadConfig } from '../../../config/load.ts'
import { openMediaWorker } from '../../../src/app.ts'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { slowFfmpeg } from '../../support/media/slow-ffmpeg.ts'
import { film, probed, video } from '../../support/media/videos.ts'
import { metricsUrl } from '../../support/metrics.ts'
import { rejection } from '../../support/rejection.ts'
import { ADMIN_PASSWORD, signedIn } from '../../support/requests/admin.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import { type Running, run } from '../../support/servers/process.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { PROJECT, recordLog, type Service } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'

const WORKER = [join(PROJECT, 'dist', 'src', 'worker.js')]

describe('workers', function () {
  this.timeout(120_000)
  let fleet: Fleet
  let web: Service
  let media: string
  let slow: Awaited<ReturnType<typeof slowFfmpeg>>
  /** The worker that is left after the first test. */
  let left: Running | undefined
  before(async () => {
    slow = await slowFfmpeg(1)
    fleet = await newFleet({ files: 'disk', env: { LOG_LEVEL: 'error', ADMIN_PASSWORD } })
    media = join(fleet.env.DATA_DIR ?? '', 'media')
    web = await fleet.service()
  })
  after(async () => {
    await fleet.end()
    await rm(slow.folder, { recursive: true })
  })

  async function worker(env: Readonly<Record<string, string>> = {}): Promise<Running> {
    const running = fleet.run({ script: WORKER, env: { METRICS_PORT: '0', LOG_LEVEL: 'info', ...env } })
    await eventually(() => expect(running.output()).to.match(/the worker is ready/))
    return running
  }

  /** Processes of ffmpeg that write into the data folder, with the number of each one's parent. */
  async function encoders(): Promise<number[]> {
    const parents: number[] = []
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      if (/^ffmpeg/.test(line) && line.includes(media))
        parents.push(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    }
    return parents
  }

  it('run the jobs of web processes, as long as one worker is left', async () => {
    const colours = Array.from({ length: sized(4, 8) }, (_, i) => (i % 2 ? 'red' : 'blue'))
    const bytes = await video({ colours })
    const { src } = await uploadOne(web, { name: 'film.mp4', bytes })
    const get = (query: string) => exchange(web, `${new URL(src).pathname}?${query}`)
    const job = new URL(String(jsonOf(await get('f=webm')).job)).pathname
    const told = async () => jsonOf(await exchange(web, job))
    const untilHalfMade = () =>
      eventually(async () => expect((await told()).progress).to.be.above(0), { withinMs: LONG_MS })

    // No other process can run it.
    expect(jsonOf(await get('f=webm&wait=1'))).to.include({ status: 423, progress: 0 })
    expect(await told()).to.deep.equal({ state: 'waiting', progress: 0 })

    // In `npm test`, ../../adapters/jobs/bullmq.test.ts has the job of a worker that is stopped; the end of its encoder is in the long run.
    if (sized(false, true)) {
      const polite = await worker({ PATH: slow.PATH })
      await untilHalfMade()
      polite.child.kill('SIGTERM')
      expect(await polite.ended).to.equal(0)
      expect(await encoders()).to.deep.equal([])
      expect(await readdir(media)).to.deep.equal([])
      expect(await told()).to.include({ state: 'waiting' })
    }

    const killed = await worker({ PATH: slow.PATH })
    await untilHalfMade()
    expect(await encoders()).to.deep.equal([killed.child.pid])
    killed.child.kill('SIGKILL')
    expect(await killed.ended).to.equal('SIGKILL')

    const last = await worker()
    await eventually(async () => expect((await told()).state).to.equal('done'), { withinMs: LONG_MS })
    // The encoder of the killed worker notices its end within a second.
    await eventually(async () => expect(await encoders()).to.deep.equal([]))
    expect(await readdir(media)).to.deep.equal([])
    const made = await get('f=webm')
    expect(made.status).to.equal(200)
    expect((await probed(made.body)).seconds).to.be.closeTo(colours.length, 0.2)
    if (sized(true, false)) left = last
    else {
      last.child.kill('SIGTERM')
      expect(await last.ended).to.equal(0)
    }
  })

  describe('that continue to run', () => {
    let running: Running
    before(async () => {
      running = left ?? (await worker({ PATH: slow.PATH }))
    })
    after(async () => {
      const url = metricsUrl(running)
      running.child.kill('SIGTERM')
      expect(await running.ended).to.equal(0)
      expect(await fetch(url).catch(() => undefined)).to.equal(undefined)
    })

    it('store derivatives of a client with its own bucket there, and nowhere else', async () => {
      const s3 = await s3Server()
      const bucket = await s3.newBucket()
      const { endpoint, region, credentials, forcePathStyle } = s3.connection
      const { accessKeyId, secretAccessKey } = credentials
      const keys = { accessKeyId, secretAccessKey }
      const storage = { endpoint, region, forcePathStyle, ...keys, bucket, prefix: 'shop/files' }
      // The worker is notified of the client after its start.
      const created = await (await signedIn(web))('POST', '', { storage })
      expect(created.status, JSON.stringify(created.json)).to.equal(200)
      const client = { url: web.url, tokens: created.json }
      const before = await fleet.state()

      const { src, s3PathOriginal: key } = await uploadOne(client, { name: 'film.mp4', bytes: await video() })
      const get = () => exchange(web, `${new URL(src).pathname}?f=webm&wait=30`)
      let made = await get()
      while (made.status === 423) made = await get()
      expect(made.status, String(made.body)).to.equal(200)
      expect((await probed(made.body)).videoCodec).to.equal('vp9')

      const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: bucket }))
      const names = [`.sluice/meta/${key}.json`, key, `${key}_f=webm`].map((name) => `shop/files/${name}`)
      expect(Contents.map(({ Key }) => Key)).to.deep.equal(names.sort())
      const stored = Contents.find(({ Key }) => Key?.endsWith('_f=webm'))
      expect(stored?.Size).to.equal(made.body.length)
      expect((await fleet.state()).files).to.deep.equal(before.files)
      expect(await readdir(media)).to.deep.equal([])
    })

    it('serve metrics on METRICS_PORT, with a health check, and count their jobs', async () => {
      await eventually(() => expect(metricsUrl(running)).to.match(/^http:\/\/127\.0\.0\.1:/))
      const url = metricsUrl(running)
      const health = await fetch(new URL('/healthz', url))
      expect([health.status, await health.text()]).to.deep.equal([200, 'ok\n'])
      const { src } = await uploadOne(web, { name: 'film.mp4', bytes: await video() })
      await eventually(async () => expect((await fetch(`${src}?w=32&wait=10`)).status).to.equal(200), {
        withinMs: LONG_MS,
      })
      const counted = (text: string) =>
        text.split('\n').filter((line) => /^sluice_[a-z_]+(\{.*\})? [1-9]/.test(line))
      await eventually(async () =>
        expect(counted(await (await fetch(url)).text()).join('\n')).to.match(/video|media/),
      )
    })

    if (sized(false, true))
      it('create a stream that web processes deliver while it is being created', async () => {
        // Twelve seconds are two segments at least, one of which is complete seconds before the stream is.
        const colours = Array.from({ length: 12 }, (_, i) => (i % 2 ? 'red' : 'blue'))
        const { src } = await uploadOne(web, { name: 'film.mp4', bytes: await film({ colours }) })
        const get = (path: string) => exchange(web, path)
        const query = `${new URL(src).pathname}?hls`
        let begun = await get(`${query}&wait=30`)
        // A busy machine needs longer for the first segments.
        while (begun.status === 423) begun = await get(`${query}&wait=30`)
        expect(begun.status, String(begun.body)).to.equal(302)
        expect(begun.headers['cache-control']).to.equal('no-store')
        const { pathname } = new URL(String(begun.headers.location))
        const named = ({ body }: Pick<typeof begun, 'body'>) =>
          [...body.toString().matchAll(/URI="([^"]+)"|^([^#\n]+)$/gm)].map(([, a, b = '']) =>
            pathname.replace('master.m3u8', a ?? b),
          )
        const master = await get(pathname)
        expect(master.status).to.equal(200)
        for (const playlist of named(master)) {
          const answer = await get(playlist)
          expect(answer.status).to.equal(200)
          for (const file of named(answer)) expect((await get(file)).status, file).to.equal(200)
        }
        await eventually(
          async () => expect((await get(query)).headers['cache-control']).to.include('max-age=604800'),
          { withinMs: LONG_MS },
        )
        for (const playlist of named(await get(pathname)))
          expect((await get(playlist)).body.toString()).to.match(/#EXT-X-ENDLIST\n$/)
        expect(await readdir(media)).to.deep.equal([])
      })
  })

  // In `npm test`, banner.test.ts has the text.
  itLong('print their requirements and every variable with --help', async () => {
    const { ended, output } = run({ script: [...WORKER, '--help'] })
    expect(await ended).to.equal(0)
    expect(output())
      .to.match(/npm run worker/)
      .and.include('the environment of the web processes, REDIS_URL, and ffmpeg')
      .and.include('MEDIA_CONCURRENCY')
  })

  itLong('refuse an argument that they do not know', async () => {
    const { ended, output } = run({ script: [...WORKER, '--port=80'] })
    expect(await ended).to.equal(1)
    expect(output()).to.include('"--port=80"').and.include('--help')
  })

  it('need the Redis of the web processes', async () => {
    const options = { root: PROJECT, baseUrl: 'http://localhost', log: recordLog() }
    const refused = openMediaWorker({ ...options, config: loadConfig({ DATA_DIR: media }) })
    expect(await rejection(refused))
      .to.have.property('message')
      .that.matches(/^REDIS_URL: expected the Redis of the web processes/)
    // As a process, this costs a second of CPU time.
    if (sized(true, false)) return
    const { ended, output } = run({ script: WORKER, env: { DATA_DIR: media } })
    expect(await ended).to.equal(1)
    expect(output()).to.match(/^sluice: REDIS_URL: expected the Redis of the web processes/)
  })
})
