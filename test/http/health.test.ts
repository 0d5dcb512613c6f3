import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import supertest from 'supertest'
import { onEveryBackend } from '../support/backends.ts'
import type { Service } from '../support/service.ts'

onEveryBackend('health', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  it('/healthz says that the process lives', async () => {
    const { body } = await supertest(service.url)
      .get('/healthz')
      .expect(200)
      .expect('Cache-Control', 'no-store')
      .expect('Content-Type', /^application\/json/)
    expect(body).to.deep.equal({ status: 'ok' })
  })

  it('/readyz says that it can serve, check by check', async () => {
    const { body } = await supertest(service.url)
      .get('/readyz')
      .expect(200)
      .expect('Cache-Control', 'no-store')
    expect(body).to.deep.equal({ status: 'ok', checks: { bucket: 'ok', index: 'ok' } })
  })

  it('/readyz is a 503 while the bucket cannot be used, and /healthz is not', async () => {
    // The folder of the disk bucket is away, as an unmounted volume is.
    const bucket = join(service.dataDir, 'bucket')
    await rename(bucket, `${bucket}-away`)
    const { body, headers } = await supertest(service.url).get('/readyz').expect(503)
    await supertest(service.url).get('/healthz').expect(200)
    await rename(`${bucket}-away`, bucket)
    expect(body).to.deep.equal({ status: 'unavailable', checks: { bucket: 'unavailable', index: 'ok' } })
    expect(headers['cache-control']).to.equal('no-store')
    expect(Number(headers['retry-after'])).to.be.above(0)
    expect(JSON.stringify(body)).not.to.include(service.dataDir)
    await supertest(service.url).get('/readyz').expect(200)
  })

  it('answers HEAD as well, and 405 with Allow to what changes something', async () => {
    for (const path of ['/healthz', '/readyz']) {
      await supertest(service.url).head(path).expect(200)
      for (const method of ['post', 'put', 'delete'] as const)
        await supertest(service.url)[method](path).expect(405).expect('Allow', 'GET, HEAD')
    }
  })

  it('is a page for people at /', async () => {
    const { text, headers } = await supertest(service.url)
      .get('/')
      .expect(200)
      .expect('Content-Type', /^text\/html/)
    expect(text).to.include('Sluice')
    expect(headers['content-security-policy']).to.include("default-src 'self'")
    await supertest(service.url).post('/').expect(405).expect('Allow', 'GET, HEAD')
  })
})
