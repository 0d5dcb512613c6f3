import { expect } from 'chai'
import supertest from 'supertest'
import type { Storage } from '../../../src/app.ts'
import { version } from '../../../src/process/version.ts'
import { diskCheck, fontCheck, onOneBackend } from '../../support/backends.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('health checks', (start, backend) => {
  let service: Service
  let gone: keyof Storage | undefined
  before(async () => {
    const pinging = <T extends { ping(): Promise<void> }>(name: keyof Storage, port: T): T => ({
      ...port,
      async ping() {
        if (gone === name) throw new Error(`the words of the ${name}`)
        await port.ping()
      },
    })
    service = await start({
      wrapStorage: ({ buckets, index }) => ({
        buckets: pinging('buckets', buckets),
        index: pinging('index', index),
      }),
    })
  })

  it('OPTIONS / responds 204 with the allowed methods', async () => {
    await supertest(service.url).options('/').expect(204).expect('Allow', 'GET, HEAD, OPTIONS')
  })

  it('GET /healthz responds 200 while the process lives', async () => {
    const { body } = await supertest(service.url)
      .get('/healthz')
      .expect(200)
      .expect('Cache-Control', 'no-store')
      .expect('Content-Type', /^application\/json/)
    expect(body).to.deep.equal({ status: 'ok' })
  })

  it('GET /readyz responds with the result of each check', async () => {
    const { check, ...lacking } = await fontCheck()
    const { body } = await supertest(service.url)
      .get('/readyz')
      .expect(200)
      .expect('Cache-Control', 'no-store')
    expect(settled(body)).to.deep.equal({
      status: 'ok',
      version: version(),
      checks: { bucket: 'ok', index: 'ok', ffmpeg: 'ok', ...diskCheck(backend), ...check },
      ...lacking,
    })
  })

  it('GET /readyz responds 503 while the bucket is unavailable, GET /healthz 200', async () => {
    const { check, ...lacking } = await fontCheck()
    gone = 'buckets'
    const { body, headers } = await supertest(service.url).get('/readyz').expect(503)
    await supertest(service.url).get('/healthz').expect(200)
    gone = undefined
    expect(settled(body)).to.deep.equal({
      status: 'unavailable',
      version: version(),
      checks: { bucket: 'unavailable', index: 'ok', ffmpeg: 'ok', ...diskCheck(backend), ...check },
      ...lacking,
    })
    expect(headers['cache-control']).to.equal('no-store')
    expect(Number(headers['retry-after'])).to.be.above(0)
    await supertest(service.url).get('/readyz').expect(200)
  })

  it('GET /readyz is degraded, not down, while the index is unavailable: stored files are delivered', async () => {
    const { check, ...lacking } = await fontCheck()
    gone = 'index'
    const { body } = await supertest(service.url).get('/readyz').expect(200)
    gone = undefined
    expect(settled(body)).to.deep.equal({
      status: 'degraded',
      version: version(),
      checks: { bucket: 'ok', index: 'unavailable', ffmpeg: 'ok', ...diskCheck(backend), ...check },
      ...lacking,
    })
  })

  it('support HEAD, and respond 405 with Allow to methods that change something', async () => {
    for (const path of ['/healthz', '/readyz']) {
      await supertest(service.url).head(path).expect(200)
      for (const method of ['post', 'put', 'delete'] as const)
        await supertest(service.url)[method](path).expect(405).expect('Allow', 'GET, HEAD')
    }
  })

  it('GET / is a page for people', async () => {
    const { text, headers } = await supertest(service.url)
      .get('/')
      .expect(200)
      .expect('Content-Type', /^text\/html/)
    expect(text).to.include('Sluice')
    // A browser that finds no icon in the page asks for /favicon.ico, and shows the 404 in its console.
    expect(text).to.include('<link rel="icon" href="data:,">')
    for (const [, link] of text.matchAll(/<a href="([^"]+)"/g))
      await supertest(service.url).get(`/${link}`).expect(200)
    // Over plain HTTP on a LAN address, and under a path of a proxy.
    expect(text).to.not.match(/(?:href|src)="(?:\/|http)/)
    expect(headers['content-security-policy']).to.not.include('upgrade-insecure-requests')
    expect(headers).to.not.have.property('strict-transport-security')
    expect(headers['content-security-policy']).to.include("default-src 'self'")
    expect(headers['content-security-policy']).to.match(/img-src [^;]*data:/)
    await supertest(service.url).post('/').expect(405).expect('Allow', 'GET, HEAD, OPTIONS')
  })
})

/** Without the comparison of index and bucket, which runs or has ended, as fast as the machine is. */
function settled({ comparison: _, ...body }: Record<string, unknown>) {
  return body
}
