import { expect } from 'chai'
import { buildUrl, createClient, SluiceError } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'
import { picture } from '../support/media/images.ts'
import { film } from '../support/media/videos.ts'
import { rejection } from '../support/rejection.ts'
import type { Service } from '../support/service.ts'

const PASSWORD = 'correct horse battery staple'

onOneBackend('the client library', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { ADMIN_PASSWORD: PASSWORD, MEDIA_JOBS_RUN_IN: 'web' } })
  })
  const clientOf = (secret: string) => createClient({ baseUrl: service.url, secret })

  it('manages clients as the operator, and signs URLs and reads the usage as a client', async () => {
    const { clients } = createClient({ baseUrl: service.url })
    expect(await rejection(clients.list())).to.include({ status: 401, code: 'not_signed_in' })
    expect(await rejection(clients.signIn('wrong'))).to.include({ status: 401, code: 'wrong_password' })
    const { token } = await clients.signIn(PASSWORD)
    const { id, secretClientToken } = await clients.create({ name: 'Shop' })
    const { urlKey } = await clients.addUrlKey(id)
    expect(urlKey.version).to.equal(1)
    expect((await clients.update(id, { rules: { signedUrls: true } })).rules).to.deep.equal({
      signedUrls: true,
    })

    const { files, urls, usage } = clientOf(secretClientToken)
    const record = await files.upload(new File([await picture()], 'a.png'))
    expect((await fetch(record.src)).status).to.equal(200)
    expect((await fetch(buildUrl(record, { w: 20 }))).status, 'without a signature').to.equal(403)
    const large = await files.upload(new File([await picture()], 'b.png'), {
      ...{ resumableFromBytes: 100, info: true, transforms: [{ w: 30 }] },
    })
    expect(large.options.info).to.include({ width: 400 })
    const rendered = large.options.transforms?.[0]
    expect(rendered?.state).to.equal('done')
    expect((await fetch(String(rendered?.src))).status).to.equal(200)
    await files.delete(large)
    const one = await urls.sign(buildUrl(record, { w: 20 }), { expiresIn: 60 })
    const several = await urls.sign([record.src, buildUrl(record, { w: 20 })])
    for (const url of [one, ...several]) expect((await fetch(url)).status).to.equal(200)
    const refused = await rejection(urls.sign([record.src, '/v1/zip']))
    expect(refused).to.be.instanceOf(SluiceError).and.include({ code: 'bad_parameter' })
    expect(await usage()).to.include({ files: 1, storedBytes: record.size })

    const scoped = await clients.addSecret(id, { only: 'read', name: 'Reader' })
    const reader = clientOf(scoped.secretClientToken)
    expect(await rejection(reader.files.delete(record))).to.include({ status: 403, code: 'out_of_scope' })
    expect((await clients.removeSecret(id, scoped.id)).secrets ?? []).to.deep.equal([])
    const rotated = await clients.rotate(id, { keepOldSeconds: 0 })
    expect(await rejection(usage())).to.include({ status: 401 })
    expect((await clientOf(rotated.secretClientToken).usage()).files).to.equal(1)
    await clients.update(id, { rules: { signedUrls: null } })
    expect((await clients.removeUrlKey(id, 1)).urlKeys ?? []).to.deep.equal([])

    const again = createClient({ baseUrl: service.url, adminToken: token }).clients
    expect((await again.get(id)).name).to.equal('Shop')
    expect(await rejection(again.delete(id))).to.include({ status: 409 })
    expect(await again.delete(id, { files: true })).to.deep.equal({ originals: 1 })
    expect((await again.list()).map((client) => client.id)).to.deep.equal(['first'])
  })

  it('waits for a video job, and not for what is stored', async () => {
    const { files, jobs } = clientOf(service.tokens.secretClientToken)
    const record = await files.upload(new File([await film()], 'a.mp4'))
    const states: string[] = []
    const url = buildUrl(record, { mute: true })
    const ready = await jobs.wait(url, { onProgress: ({ state }) => states.push(state) })
    expect(states.at(-1)).to.equal('done')
    expect((await fetch(ready)).headers.get('Content-Type')).to.equal('video/mp4')
    states.length = 0
    expect(await jobs.wait(url, { onProgress: ({ state }) => states.push(state) })).to.equal(url)
    expect(states).to.deep.equal([])
    expect(await rejection(jobs.wait(buildUrl(record, { end: 0.1, start: 5 })))).to.be.instanceOf(SluiceError)
  })
})
