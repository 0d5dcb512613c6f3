import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { onEveryBackend } from '../support/backends.ts'
import { deleteFile, uploadOne, type WireRecord } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { type Answer, exchange, jsonOf } from '../support/exchange.ts'
import type { Service } from '../support/service.ts'
import { film, probed, sound } from '../support/videos.ts'

// Videos are made by the process that is asked, also where others could.
const env = { MEDIA_JOBS_IN: 'web' }

onEveryBackend('videos of videos', (start) => {
  let service: Service
  let bytes: Buffer
  let record: WireRecord
  before(async () => {
    bytes = await film({ colours: ['red', 'blue'] })
    service = await start({ env })
    record = await uploadOne(service, { name: 'film.mp4', bytes })
  })
  afterEach('leaves no temporary file', async () => {
    await eventually(async () =>
      expect(await readdir(join(service.dataDir, 'media')).catch(() => [])).to.deep.equal([]),
    )
  })

  const get = (query: string, { src }: Pick<WireRecord, 'src'> = record, headers = {}): Promise<Answer> =>
    exchange(service, `${src}?${query}`, { headers })

  it('are a 423 that says where to look, until they are there', async () => {
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

  it('are there at once for who waits', async () => {
    const { status, headers, body } = await get('f=webm&w=32&wait=30')
    expect(status, String(body)).to.equal(200)
    expect(headers['content-type']).to.equal('video/webm')
    expect((await probed(body)).videoCodec).to.equal('vp9')
    expect(jsonOf(await get('w=32&wait=31'))).to.include({ status: 400, param: 'wait' })
    expect((await get('wait=1')).body.equals(bytes)).to.equal(true)
  })

  it('are one job, however many ask', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => get('w=48&wait=30')))
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]))
    const made = service.log.lines.filter(({ message }) => /has failed/.test(message))
    expect(made).to.deep.equal([])
  })

  it('tell their progress as events', async () => {
    await get('w=64')
    const { clientToken } = service.tokens
    const path = `/v1/jobs/${clientToken}/${encodeURI(record.s3PathOriginal)}_w%3D64`
    const { headers, body } = await exchange(service, path, { headers: { Accept: 'text/event-stream' } })
    expect(headers['content-type']).to.match(/^text\/event-stream/)
    const events = body.toString().trim().split('\n\n')
    expect(events.at(-1)).to.match(/^event: done\ndata: {"state":"done","progress":1,"url":"http/)
  })

  it('that cannot be made are a 422, then and from then on', async () => {
    const mute = await uploadOne(service, { name: 'song.mp4', bytes: await sound() })
    const detail = 'expected a video with pictures but this file has only sound'
    expect(jsonOf(await get('w=80&wait=30', mute))).to.include({ status: 422, detail })
    expect(jsonOf(await get('w=80', mute))).to.include({ status: 422, code: 'not_transformable', detail })
    const path = `/v1/jobs/${service.tokens.clientToken}/${mute.s3PathOriginal}_w%3D80`
    const { state, error } = jsonOf(await exchange(service, path)) as Record<string, object>
    expect(state).to.equal('failed')
    expect(error).to.include({ status: 422, code: 'not_transformable', detail })
    expect(jsonOf(await get('start=5&wait=30'))).to.include({ status: 400, param: 'start' })
  })

  it('of what is deleted meanwhile leave nothing', async () => {
    const short = await uploadOne(service, { name: 'film.mp4', bytes })
    expect((await get('f=webm', short)).status).to.equal(423)
    expect((await deleteFile(service, short.s3PathOriginal)).status).to.equal(200)
    expect((await get('f=webm', short)).status).to.equal(404)
    await service.app.sweep()
    await eventually(async () => {
      expect((await service.objects()).filter((name) => name.includes(short.sourceName))).to.deep.equal([])
      expect((await readdir(join(service.dataDir, 'media')).catch(() => [])).length).to.equal(0)
    })
    const path = `/v1/jobs/${service.tokens.clientToken}/${short.s3PathOriginal}_f%3Dwebm`
    expect((await exchange(service, path)).status).to.equal(404)
  })

  it('tell of jobs only to who knows a file', async () => {
    const { clientToken } = service.tokens
    for (const path of [
      `/v1/jobs/${clientToken}/${record.s3PathOriginal}`,
      `/v1/jobs/${clientToken}/${record.s3PathOriginal}_w%3D999`,
      `/v1/jobs/nobodys_token/${record.s3PathOriginal}_w%3D80`,
    ])
      expect((await exchange(service, path)).status, path).to.equal(404)
  })
})
