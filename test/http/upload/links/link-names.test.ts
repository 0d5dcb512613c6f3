import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../../support/backends.ts'
import { picture } from '../../../support/media/images.ts'
import { ask } from '../../../support/requests/ask.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { type Service, startService } from '../../../support/service.ts'

describe('the name of a file in a PUT upload', () => {
  const start = stoppedAtTheEnd(startService)
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
  })

  async function nameOf(target: string, headers: Record<string, string>): Promise<string> {
    const Authorization = service.tokens.secretClientToken
    const { status, body } = await exchange(service, target, {
      method: 'PUT',
      headers: target.includes('/sign/') ? headers : { ...headers, Authorization },
      body: png,
    })
    expect(status, String(body)).to.equal(200)
    return JSON.parse(String(body))[0].originalName
  }

  async function link(): Promise<string> {
    const { body } = await ask(service, '/v1/sign', { method: 'POST', json: { expiresIn: 60 } })
    return (body as { url: string }).url.slice(service.url.length)
  }

  it('is the one that was appended to a signed link', async () => {
    for (const [added, name] of [
      ['&name=photo.png', 'photo.png'],
      [`&name=${encodeURIComponent('größe 1&2.png')}`, 'größe 1&2.png'],
      ['&name=../../x/photo.png', 'photo.png'],
    ] as const)
      expect(await nameOf(`${await link()}${added}`, {})).to.equal(name)
    const header = { 'Content-Disposition': 'attachment; filename="header.png"' }
    expect(await nameOf(`${await link()}&name=`, header)).to.equal('header.png')
    const target = await link()
    for (const changed of [`${target}&name=a.png&b=c`, `${target}&b=c`, `${target}&b=c&name=a.png`]) {
      const { status } = await exchange(service, changed, { method: 'PUT', body: png })
      expect(status, changed).to.be.within(400, 404)
    }
  })

  const utf8 = Buffer.from('größe.png').toString('latin1')
  for (const [header, name] of [
    ['attachment; filename="photo.png"', 'photo.png'],
    ['inline; filename=photo.png', 'photo.png'],
    [`attachment; filename="${utf8}"`, 'größe.png'],
    ['attachment; filename="a.png"; filename*=UTF-8\'\'gr%C3%B6%C3%9Fe.png', 'größe.png'],
    ['attachment; filename="../../x/photo.png"', 'photo.png'],
  ] as const)
    it(`is that of ${header} with a signed link`, async () => {
      expect(await nameOf(await link(), { 'Content-Disposition': header })).to.equal(name)
    })

  for (const header of ['attachment', 'attachment; filename="', ';;;', "attachment; filename*=UTF-8''%"])
    it(`is that of the link, not of ${header}`, async () => {
      expect(await nameOf(await link(), { 'Content-Disposition': header })).to.match(/^[1-9A-Za-z]{22}\.png$/)
    })

  it('is that of the path, not of the header', async () => {
    const headers = { 'Content-Disposition': 'attachment; filename="other.png"' }
    expect(await nameOf('/v1/upload/photo.png', headers)).to.equal('photo.png')
  })

  it('can be sent by a page of another origin', async () => {
    const { headers } = await exchange(service, await link(), { method: 'OPTIONS' })
    expect(headers['access-control-allow-headers']).to.include('Content-Disposition')
  })
})
