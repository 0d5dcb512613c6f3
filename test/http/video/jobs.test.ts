import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { derivativeKey, storedKey } from '../../../src/core/files/object-key.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { film, probed, sound } from '../../support/media/videos.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { deleteFile, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { postForm } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { itLong, longOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

// Videos are made by the process that is asked, also where others could.
const env = { MEDIA_JOBS_RUN_IN: 'web' }

onOneOrTwoBackends('video transformations', (start, backend, itOnce) => {
  const itLongOnce = longOnce(itOnce)
  let service: Service
  let bytes: Buffer
  let record: WireRecord
  const puts: string[] = []
  before(async () => {
    bytes = await film({ colours: ['red', 'blue'] })
    service = await start({
      env,
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, ...rest) {
          puts.push(key)
          return bucket.put(key, ...rest)
        },
      })),
    })
    record = await uploadOne(service, { name: 'film.mp4', bytes })
  })
  afterEach('leaves no temporary file', async () => {
    await eventually(async () =>
      expect(await readdir(join(service.dataDir, 'media')).catch(() => [])).to.deep.equal([]),
    )
  })

  const media = () => join(service.dataDir, 'media')
  const get = (query: string, { src }: Pick<WireRecord, 'src'> = record, headers = {}): Promise<Answer> =>
    exchange(service, `${src}?${query}`, { headers })

  it('respond 423 with the URL of the job, until they are stored', async () => {
    const answer = await get('w=80')
    const problem = jsonOf(answer)
    expect(problem, JSON.stringify(problem)).to.include({ status: 423, code: 'not_ready', progress: 0 })
    expect(answer.headers).to.include({ 'retry-after': '3', 'cache-control': 'no-store' })
    const key = `${record.s3PathOriginal}_w=80`
    const job = String(problem.job)
    expect(decodeURIComponent(job)).to.equal(`${service.url}/v1/jobs/${service.tokens.clientToken}/${key}`)
    let told: Record<string, unknown> = {}
    await eventually(async () => {
      told = jsonOf(await exchange(service, job))
      expect(told.state, JSON.stringify(told)).to.equal('done')
    })
    expect(told).to.have.keys('state', 'progress', 'url')
    expect(told.progress).to.equal(1)
    const made = await get('w=80')
    expect(made.status).to.equal(200)
    expect(made.headers).to.include({
      'content-type': 'video/mp4',
      etag: `"${key}"`,
      'accept-ranges': 'bytes',
    })
    expect(await probed(made.body)).to.include({
      width: 80,
      height: 60,
      videoCodec: 'h264',
      audioCodec: 'aac',
    })
    expect((await exchange(service, String(told.url))).body.equals(made.body)).to.equal(true)
    expect(await service.objects()).to.include(`first/${key}`)
    const part = await get('w=80', record, { Range: 'bytes=10-19' })
    expect(part.status).to.equal(206)
    expect(part.body.equals(made.body.subarray(10, 20))).to.equal(true)
  })

  it('are one job for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => get('w=48&wait=30')))
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]))
    expect(puts.filter((key) => key === `${record.s3PathOriginal}_w=48`)).to.have.length(1)
  })

  itOnce('respond 422 when they cannot be rendered, also later', async () => {
    const mute = await uploadOne(service, { name: 'song.mp4', bytes: await sound() })
    const detail = 'expected a video stream but this file has only audio'
    expect(jsonOf(await get('w=80&wait=30', mute))).to.include({ status: 422, detail })
    expect(jsonOf(await get('w=80', mute))).to.include({ status: 422, code: 'not_transformable', detail })
    const path = `/v1/jobs/${service.tokens.clientToken}/${mute.s3PathOriginal}_w%3D80`
    const { state, error } = jsonOf(await exchange(service, path)) as Record<string, object>
    expect(state).to.equal('failed')
    expect(error).to.include({ status: 422, code: 'not_transformable', detail })
    expect(jsonOf(await get('start=5&wait=30'))).to.include({ status: 400, param: 'start' })
  })

  for (const [when, hasBegun] of [
    ['before it begins', () => {}],
    ['during the transcode', async () => expect(await readdir(media())).not.to.deep.equal([])],
  ] as const) {
    it(`leave nothing of a file that is deleted ${when}`, async () => {
      const gone = await uploadOne(service, { name: 'film.mp4', bytes })
      expect((await get('f=webm', gone)).status).to.equal(423)
      await eventually(hasBegun)
      expect((await deleteFile(service, gone.s3PathOriginal)).status).to.equal(200)
      expect((await get('f=webm', gone)).status).to.equal(404)
      const path = `/v1/jobs/${service.tokens.clientToken}/${gone.s3PathOriginal}_f%3Dwebm`
      await eventually(async () => {
        expect((await exchange(service, path)).status).to.equal(404)
        expect((await service.objects()).filter((name) => name.includes(gone.sourceName))).to.deep.equal([])
        expect(await readdir(media()).catch(() => [])).to.deep.equal([])
      })
      const key = storedKey(gone.s3PathOriginal)
      await eventually(async () => {
        const known = service.storage.index.find({ clientId: 'first', key }, derivativeKey(key, 'f=webm'))
        expect(await known).to.deep.equal({})
      })
      const itsOwn = service.log.lines.filter(({ fields }) =>
        JSON.stringify(fields).includes(gone.sourceName),
      )
      expect(itsOwn.filter(({ level }) => level !== 'info')).to.deep.equal([])
    })
  }

  itLongOnce(
    'respond 429 above the share of one address, and evict others above the variant limit',
    async () => {
      const limited = await start({ env: { ...env, MEDIA_JOBS_LIMIT: '12', VARIANT_LIMIT: '5' } })
      const { src } = await uploadOne(limited, { name: 'film.mp4', bytes })
      const ask = (query: string) => exchange(limited, `${src}?${query}`)
      const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => ask(`w=${16 + 2 * i}`)))
      const statuses = answers.map(({ status }) => status).sort()
      expect(statuses).to.deep.equal([...Array(3).fill(423), ...Array(27).fill(429)])
      const refused = answers.find(({ status }) => status === 429) as Answer
      expect(refused.headers).to.include({ 'retry-after': '30', ratelimit: '"jobs";r=0' })
      expect(jsonOf(refused)).to.include({ code: 'too_many_jobs', limit: 3 })
      // Those that wait already are no new ones.
      const waiting = answers.findIndex(({ status }) => status === 423)
      expect((await ask(`w=${16 + 2 * waiting}&wait=30`)).status).to.equal(200)
      const variants = await Promise.all([1, 2, 3, 4].map(() => ask('w=90&wait=30')))
      expect(new Set(variants.map(({ status }) => status))).to.deep.equal(new Set([200]))
      expect((await ask('w=92&wait=30')).status).to.equal(200)
      // In the place of the least recently used one.
      expect((await ask('w=94&wait=30')).status).to.equal(200)
      await limited.stop()
    },
  )

  // The rest has nothing to do with where files and states are kept.
  if (backend !== EMBEDDED) return

  it('respond as soon as they are stored to a client with wait', async () => {
    const { status, headers, body } = await get('f=webm&w=32&wait=30')
    expect(status, String(body)).to.equal(200)
    expect(headers['content-type']).to.equal('video/webm')
    expect((await probed(body)).videoCodec).to.equal('vp9')
    expect(jsonOf(await get('w=32&wait=31'))).to.include({ status: 400, param: 'wait' })
    expect((await get('wait=1')).body.equals(bytes)).to.equal(true)
  })

  itLong('emit their progress as server-sent events', async () => {
    await get('w=64')
    const { clientToken } = service.tokens
    const path = `/v1/jobs/${clientToken}/${encodeURI(record.s3PathOriginal)}_w%3D64`
    const { headers, body } = await exchange(service, path, { headers: { Accept: 'text/event-stream' } })
    expect(headers['content-type']).to.match(/^text\/event-stream/)
    const events = body.toString().trim().split('\n\n')
    expect(events.at(-1)).to.match(/^event: done\ndata: {"state":"done","progress":1,"url":"http/)
  })

  itLong('can be requested with the upload', async () => {
    const answer = await postForm(service, [
      { disposition: 'name="transforms"', bytes: JSON.stringify(['w=40', 'thumbnail&w=40']) },
      { disposition: 'name="file"; filename="film.mp4"', bytes },
    ])
    const [eager] = jsonOf(answer) as unknown as [
      WireRecord & { options: { transforms: Array<{ key: string; state: string }> } },
    ]
    const { transforms } = eager.options
    expect(transforms.map(({ key }) => key)).to.deep.equal([
      `${eager.s3PathOriginal}_w=40`,
      `${eager.s3PathOriginal}_thumbnail=1&w=40`,
    ])
    await eventually(async () => {
      for (const { key } of transforms) expect(await service.objects()).to.include(`first/${key}`)
    })
    expect(puts.filter((key) => key === transforms[0]?.key)).to.have.length(1)
    const again = await get('w=40', eager)
    expect(again.status).to.equal(200)
  })

  itLong('are an error in the manifest of an archive until they are stored', async () => {
    const item = { type: 'video', path: record.sourceName, params: { w: 56 }, name: 'small.mp4' }
    const archived = async () => {
      const answer = await postZip(service, { files: [item] })
      return manifestOf(entriesOf(Buffer.from(await answer.arrayBuffer())))
    }
    const [{ reason, ...error } = { reason: '' }] = (await archived()) as Array<Record<string, unknown>>
    expect(error).to.deep.equal({ path: record.sourceName, name: 'small.mp4', status: 'error', code: 423 })
    expect(reason).to.match(/in progress/)
    const { body } = await get('w=56&wait=30')
    expect(await archived()).to.deep.equal([
      { path: record.sourceName, name: 'small.mp4', status: 'ok', size: body.length },
    ])
  })

  it('show jobs only to a client that knows the file', async () => {
    const { clientToken } = service.tokens
    for (const path of [
      `/v1/jobs/${clientToken}/${record.s3PathOriginal}`,
      `/v1/jobs/${clientToken}/${record.s3PathOriginal}_w%3D999`,
      `/v1/jobs/nobodys_token/${record.s3PathOriginal}_w%3D80`,
    ])
      expect((await exchange(service, path)).status, path).to.equal(404)
  })
})
