import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { pluginFolder } from '../../support/drop-ins.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'

const BLINDS = `export default {
  name: 'image-blinds', engine: 'sharp', phase: 'effect',
  params: {
    blinds: { type: 'integer', min: 2, max: 50, default: 8, unit: 'slats', aliases: ['slats'], help: 'Blinds' },
  },
  transform: (image) => image,
}`

describe('GET /v1/parameters', () => {
  const start = stoppedAtTheEnd(startService)
  let folder: string
  let service: Service
  before(async () => {
    folder = await pluginFolder({ 'blinds.js': BLINDS })
    service = await start({ env: { PLUGINS_DIR: folder } })
  })
  after(() => rm(folder, { recursive: true }))

  const get = (options: Parameters<typeof exchange>[2] = {}) => exchange(service, '/v1/parameters', options)

  it('returns everything known about a parameter, by media group', async () => {
    const parameters = jsonOf(await get()) as Record<string, Array<{ name: string }>>
    expect(parameters).to.have.all.keys('image', 'video', 'audio', 'text', 'application')
    const named = (name: string) => parameters.image?.find((each) => each.name === name)
    expect(named('w')).to.deep.equal({
      plugin: 'image-resize',
      name: 'w',
      aliases: ['width'],
      type: 'integer',
      min: 1,
      max: 5000,
      unit: 'px',
      expected: 'an integer from 1 to 5000 px or auto',
      auto: 'width',
      help: 'Width. auto: the width in the page, by client hints.',
    })
    expect(named('dpr')).to.deep.include({ type: 'number', min: 1, max: 3, default: 1, aliases: [] })
    expect(named('f')).to.deep.include({
      plugin: 'image-format',
      type: 'enum',
      aliases: ['format'],
      values: ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif', 'svg', 'auto'],
      synonyms: { jpg: 'jpeg', tif: 'tiff' },
      expected: 'one of jpeg, png, webp, avif, tiff, gif, svg, auto',
    })
    expect(named('lossless')).to.include({ type: 'flag', expected: 'no value, 1 or 0' })
    expect(parameters.text).to.deep.equal([])
  })

  it('includes those of drop-ins', async () => {
    const { image } = jsonOf(await get()) as { image: Array<{ name: string }> }
    expect(image.find(({ name }) => name === 'blinds')).to.deep.equal({
      plugin: 'image-blinds',
      name: 'blinds',
      aliases: ['slats'],
      type: 'integer',
      min: 2,
      max: 50,
      default: 8,
      unit: 'slats',
      expected: 'an integer from 2 to 50 slats',
      help: 'Blinds',
    })
  })

  it('can be read by pages of any origin, and cached for a while', async () => {
    const { status, headers, body } = await get()
    expect(status).to.equal(200)
    expect(headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'content-length': String(body.length),
    })
    const again = await get({ headers: { 'if-none-match': String(headers.etag) } })
    expect({ status: again.status, size: again.body.length }).to.deep.equal({ status: 304, size: 0 })
    const other = await get({ headers: { 'if-none-match': '"another"' } })
    expect(other.status).to.equal(200)
  })

  it('has another ETag when the parameters differ', async () => {
    const plain = await start()
    const [ours, theirs] = await Promise.all([get(), exchange(plain, '/v1/parameters')])
    expect(ours.headers.etag).to.match(/^"[0-9a-f]{32}"$/)
    expect(theirs.headers.etag)
      .to.match(/^"[0-9a-f]{32}"$/)
      .and.not.equal(ours.headers.etag)
  })

  it('supports HEAD and OPTIONS, and responds 405 to other methods', async () => {
    const head = await get({ method: 'HEAD' })
    const whole = await get()
    expect(head.status).to.equal(200)
    expect(head.body).to.have.length(0)
    expect(head.headers['content-length']).to.equal(String(whole.body.length))
    expect((await get({ method: 'OPTIONS' })).status).to.equal(204)
    const post = await get({ method: 'POST' })
    expect({ status: post.status, allow: post.headers.allow }).to.deep.equal({
      status: 405,
      allow: 'GET, HEAD, OPTIONS',
    })
    expect((await exchange(service, '/v1/parameters/')).status).to.equal(404)
  })
})
