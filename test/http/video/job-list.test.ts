import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { createClient, type SluiceClient } from '../../../client/index.ts'
import { derivativeKey, storedKey } from '../../../src/core/files/object-key.ts'
import { onOneBackend, onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { startWithSlowFfmpeg } from '../../support/media/slow-ffmpeg.ts'
import { film, sound } from '../../support/media/videos.ts'
import { rejection } from '../../support/rejection.ts'
import { type Caller, newClient, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'

const clientOf = ({ url }: Service, { tokens }: Pick<Caller, 'tokens'>) =>
  createClient({ baseUrl: url, secret: tokens.secretClientToken })
const firstOf = async ({ jobs }: SluiceClient) => (await jobs.page()).jobs[0]

onOneOrTwoBackends('the list of media jobs', (start, _) => {
  let service: Service
  let shop: Caller & { id: string }
  let client: SluiceClient
  let mute: WireRecord

  before(async () => {
    service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
    shop = await newClient(service)
    client = clientOf(service, shop)
    mute = await uploadOne(shop, { name: 'song.mp4', bytes: await sound() })
  })

  const request = (query: string, { src } = mute) => exchange(service, `${src}?${query}`)
  const untilState = (state: string) =>
    eventually(async () => expect((await firstOf(client))?.state).to.equal(state))

  it('has the jobs of the client alone, with their failures, page by page', async () => {
    expect((await client.jobs.page()).jobs).to.deep.equal([])
    for (const width of [80, 90, 100]) {
      expect((await request(`w=${width}`)).status).to.equal(423)
      await untilState('failed')
    }
    const { jobs, next } = await client.jobs.page({ limit: 2 })
    expect(jobs.map(({ url }) => url)).to.deep.equal(
      [100, 90].map(
        (width) => `${mute.src.replace(/[^/]+$/, '')}${encoded(mute.s3PathOriginal)}_w%3D${width}`,
      ),
    )
    const [job] = jobs
    expect(job).to.include({ state: 'failed', file: mute.s3PathOriginal, attempts: 1, progress: 0 })
    expect(job?.error).to.include({ code: 'not_transformable', status: 422 })
    expect(Date.parse(String(job?.endedAt))).to.be.at.least(Date.parse(String(job?.createdAt)))
    const rest = await client.jobs.page({ limit: 2, cursor: next })
    expect([rest.jobs.length, rest.next]).to.deep.equal([1, undefined])
    const all: string[] = []
    for await (const { id } of client.jobs.list({ limit: 1, state: 'failed' })) all.push(id)
    expect(all).to.deep.equal([...jobs, ...rest.jobs].map(({ id }) => id))
    expect((await client.jobs.page({ state: 'done' })).jobs).to.deep.equal([])
    expect((await clientOf(service, service).jobs.page()).jobs).to.deep.equal([])
  })

  it('begins a failed job again, and only a failed one', async () => {
    const [job] = (await client.jobs.page()).jobs
    const again = await client.jobs.retry(String(job?.id))
    expect(again.id).to.equal(job?.id)
    expect(Date.parse(again.createdAt)).to.be.above(Date.parse(String(job?.createdAt)))
    await untilState('failed')
    expect((await client.jobs.page()).jobs).to.have.length(3)
    const video = await uploadOne(shop, { name: 'film.mp4', bytes: await film({ colours: ['red'] }) })
    expect((await request('w=48&wait=30', video)).status).to.equal(200)
    const done = await firstOf(client)
    expect(done).to.include({ state: 'done', progress: 1, file: video.s3PathOriginal })
    const error = await rejection(client.jobs.retry(String(done?.id)))
    expect(error).to.include({ status: 409, code: 'job_not_failed' })
    await client.jobs.cancel(String(done?.id))
    expect((await firstOf(client))?.file).to.equal(mute.s3PathOriginal)
    expect((await request('w=48', video)).status, 'the derivative remains').to.equal(200)
  })

  it('begins a failed job again once, however often it is retried at the same time', async () => {
    const [job] = (await client.jobs.page({ state: 'failed' })).jobs
    const id = String(job?.id)
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => client.jobs.retry(id)))
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).to.include({ code: 'job_not_failed' })
    await eventually(async () => {
      const [again] = (await client.jobs.page()).jobs
      expect(again).to.include({ id, state: 'failed' })
    })
  })

  it('refuses to retry a job whose preset now means another derivative', async () => {
    await client.presets.save('clip', { group: 'video', parameters: 'w=60' })
    expect((await request('preset=clip')).status).to.equal(423)
    await untilState('failed')
    const { id } = (await firstOf(client)) ?? { id: '' }
    await client.presets.save('clip', { group: 'video', parameters: 'w=62' })
    expect(await rejection(client.jobs.retry(id))).to.include({ status: 409, code: 'job_outdated' })
    await client.presets.remove('clip')
    expect(await rejection(client.jobs.retry(id))).to.include({ status: 409, code: 'job_outdated' })
    expect((await firstOf(client))?.id).to.equal(id)
  })

  it('does not know the jobs of other clients, and no other text', async () => {
    const { id } = (await firstOf(client)) ?? { id: '' }
    const other = clientOf(service, service)
    for (const name of [id, 'abc', 'a%2Fb', Buffer.from(mute.s3PathOriginal).toString('base64url')]) {
      expect(await rejection(other.jobs.cancel(name)), name).to.include({
        status: 404,
        code: 'job_not_found',
      })
      expect(await rejection(other.jobs.retry(name)), name).to.include({ status: 404, code: 'job_not_found' })
    }
    expect((await firstOf(client))?.id).to.equal(id)
  })
})

onOneBackend('media jobs', (start) => {
  const encodedId = (key: string) => Buffer.from(key).toString('base64url')
  let folder: string
  let service: Service
  let client: SluiceClient
  let video: WireRecord

  before(async () => {
    const options = { env: { MEDIA_CONCURRENCY: '1', MEDIA_JOBS_RUN_IN: 'web' } }
    ;({ service, folder } = await startWithSlowFfmpeg(start, 0.05, options))
    client = clientOf(service, service)
    video = await uploadOne(service, { name: 'film.mp4', bytes: await film({ colours: ['red', 'blue'] }) })
  })
  after(() => rm(folder, { recursive: true }))

  it('are cancelled while they run, and while they wait', async () => {
    const keys = ['w=40', 'w=42'].map((variant) => `${video.s3PathOriginal}_${variant}`)
    for (const variant of ['w=40', 'w=42']) await exchange(service, `${video.src}?${variant}`)
    await eventually(async () => {
      const { jobs } = await client.jobs.page()
      expect(jobs.map(({ state }) => state)).to.deep.equal(['waiting', 'active'])
    })
    for (const key of [...keys].reverse()) await client.jobs.cancel(encodedId(key))
    await eventually(async () => expect((await client.jobs.page()).jobs).to.deep.equal([]))
    const original = { clientId: 'first', key: storedKey(video.s3PathOriginal) }
    await eventually(async () => {
      for (const variant of ['w=40', 'w=42']) {
        const known = await service.storage.index.find(original, derivativeKey(original.key, variant))
        expect(known?.derivative, variant).to.equal(undefined)
      }
    })
    expect(await service.objects()).to.have.length(2)
  })

  itLong('of documents do not wait for those of videos, and are in the same list', async () => {
    expect((await exchange(service, `${video.src}?w=44`)).status).to.equal(423)
    await eventually(async () => expect((await firstOf(client))?.state).to.equal('active'))
    const bytes = await readFile(join(PROJECT, 'test/corpus/files/libreoffice.odt'))
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.odt', bytes })
    const pdf = await exchange(service, `${src}?pdf&wait=30`)
    expect(pdf.status, pdf.body.toString('latin1', 0, 300)).to.equal(200)
    const listed: Array<[string, string]> = []
    for (let cursor: string | undefined; ; ) {
      const page = await client.jobs.page({ limit: 1, ...(cursor ? { cursor } : {}) })
      listed.push(...page.jobs.map(({ id, state }): [string, string] => [id, state]))
      cursor = page.next
      if (!cursor) break
    }
    expect(listed).to.deep.equal([
      [encodedId(`${s3PathOriginal}_pdf=1`), 'done'],
      [encodedId(`${video.s3PathOriginal}_w=44`), 'active'],
    ])
    for (const [id] of listed) await client.jobs.cancel(id)
    await eventually(async () => expect((await client.jobs.page()).jobs).to.deep.equal([]))
  })

  it('are for secrets that are valid for everything', async () => {
    const { addSecret } = service.app.clients
    const { secret } = await addSecret('first', { scope: { only: 'read' } })
    const reader = createClient({ baseUrl: service.url, secret })
    expect((await reader.jobs.page()).jobs).to.deep.equal([])
    const id = encodedId(`${video.s3PathOriginal}_w=40`)
    expect(await rejection(reader.jobs.cancel(id))).to.include({ status: 403 })
    expect(await rejection(reader.jobs.retry(id))).to.include({ status: 403 })
    const scoped = await addSecret('first', { scope: { folder: 'a' } })
    const inFolder = createClient({ baseUrl: service.url, secret: scoped.secret })
    expect(await rejection(inFolder.jobs.page())).to.include({ status: 403, code: 'out_of_scope' })
    for (const query of ['state=running', 'limit=0', 'cursor=abc', 'other=1']) {
      const headers = { Authorization: service.tokens.secretClientToken }
      expect((await exchange(service, `/v1/jobs?${query}`, { headers })).status, query).to.equal(400)
    }
  })
})

function encoded(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}
