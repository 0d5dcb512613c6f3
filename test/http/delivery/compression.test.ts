import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { onOneBackend, onTwoOrEveryBackend } from '../../support/backends.ts'
import { tone } from '../../support/media/sounds.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'

const LINE = '<rect x="12" y="30" width="400" height="20" fill="#0f766e"/>\n'
const SVG = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400">${LINE.repeat(200)}</svg>`,
)
const BR = { 'Accept-Encoding': 'gzip, deflate, br, zstd' }

onTwoOrEveryBackend('a text for clients that accept an encoding', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  it('is compressed once, stored out of sight, and deleted with its original', async () => {
    const record = await uploadOne(service, { name: 'a.svg', bytes: SVG })
    const get = (headers = {}) => exchange(service, record.src, { headers })
    for (const _ of ['created', 'stored', 'hot']) {
      const { status, headers, body } = await get(BR)
      expect(status).to.equal(200)
      expect(headers).to.include({ 'content-encoding': 'br', vary: 'Accept-Encoding' })
      expect(headers).to.include({ 'content-type': 'image/svg+xml', 'content-length': String(body.length) })
      expect(headers).not.to.have.property('content-range')
      expect(headers.etag).to.match(/;br"$/)
      expect(body.length).to.be.below(SVG.length / 10)
      expect(brotliDecompressSync(body).equals(SVG)).to.equal(true)
    }
    // The copy is stored after the first response.
    await settled(service)
    const copies = (await service.objects()).filter((name) => name.includes(`${record.s3PathOriginal}_`))
    expect(copies.map((name) => name.slice(name.indexOf(record.s3PathOriginal)))).to.deep.equal([
      `${record.s3PathOriginal}_br`,
    ])
    const info = await exchange(service, `/v1/files/${record.s3PathOriginal}`, {
      headers: { Authorization: service.tokens.secretClientToken },
    })
    expect(jsonOf(info).derivatives).to.deep.equal([])
    const named = record.src.replace(/\.svg$/, '.svg_br')
    expect((await exchange(service, named)).status).to.equal(404)
    await deleteFile(service, record.s3PathOriginal)
    expect((await get(BR)).status).to.equal(404)
    expect((await service.objects()).join(' ')).not.to.include(record.s3PathOriginal)
  })
})

onOneBackend('compression', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  it('is gzip for clients that accept only that, and nothing for others', async () => {
    const { src } = await uploadOne(service, { name: 'a.svg', bytes: SVG })
    const gzip = await exchange(service, src, { headers: { 'Accept-Encoding': 'gzip' } })
    expect(gzip.headers).to.include({ 'content-encoding': 'gzip' })
    expect(gunzipSync(gzip.body).equals(SVG)).to.equal(true)
    for (const accepted of [undefined, '', 'identity', 'br;q=0', 'zstd']) {
      const headers = accepted === undefined ? {} : { 'Accept-Encoding': accepted }
      for (const _ of ['cold', 'hot']) {
        const plain = await exchange(service, src, { headers })
        expect(plain.headers, accepted).not.to.have.property('content-encoding')
        expect(plain.headers, accepted).to.include({
          vary: 'Accept-Encoding',
          'content-range': `bytes 0 - ${SVG.length}`,
        })
        expect(plain.body.equals(SVG), accepted).to.equal(true)
      }
    }
  })

  it('has a tag of its own, and is never a part', async () => {
    const { src } = await uploadOne(service, { name: 'a.svg', bytes: SVG })
    const whole = await exchange(service, src, { headers: BR })
    const etag = String(whole.headers.etag)
    const again = await exchange(service, src, { headers: { ...BR, 'If-None-Match': etag } })
    expect(again.status).to.equal(304)
    expect(again.headers).to.include({ etag, vary: 'Accept-Encoding' })
    expect(again.headers).not.to.have.property('content-encoding')
    const part = await exchange(service, src, { headers: { ...BR, Range: 'bytes=0-3' } })
    expect(part.status).to.equal(206)
    expect(part.body.toString()).to.equal('<svg')
    expect(part.headers).not.to.have.property('content-encoding')
    expect(part.headers.etag).to.equal(etag.replace(';br', ''))
    const resumed = await exchange(service, src, { headers: { ...BR, Range: 'bytes=0-3', 'If-Range': etag } })
    expect(resumed.status, 'of another version').to.equal(200)
    expect(resumed.body.equals(SVG)).to.equal(true)
    const head = await exchange(service, src, { method: 'HEAD', headers: BR })
    expect(head.headers).to.include({ etag, 'content-length': whole.headers['content-length'] })
  })

  it('is for texts of 1 KB and more, and only when they become smaller', async () => {
    const encodingOf = async (name: string, bytes: Buffer) => {
      const { src } = await uploadOne(service, { name, bytes })
      await exchange(service, src, { headers: BR })
      return (await exchange(service, src, { headers: BR })).headers['content-encoding']
    }
    const csv = Buffer.from('a,b,c\n'.repeat(1000))
    expect(await encodingOf('a.csv', csv)).to.equal('br')
    expect(await encodingOf('a.json', Buffer.from(JSON.stringify(Array(999).fill('a'))))).to.equal('br')
    expect(await encodingOf('a.html', Buffer.from(`<!doctype html>${'<p>a</p>'.repeat(500)}`))).to.equal('br')
    expect(await encodingOf('a.csv', csv.subarray(0, 1023))).to.equal(undefined)
    expect(await encodingOf('a.wav', await tone({ levels: [0.5, 1] }))).to.equal(undefined)
  })

  it('compresses derivatives that are texts, too, by their bytes', async () => {
    const { src } = await uploadOne(service, { name: 'a.wav', bytes: await tone({ levels: [0.5, 1] }) })
    const get = () => exchange(service, `${src}?waveform&wait=30`, { headers: BR })
    const first = await get()
    expect(first.headers['content-type']).to.match(/json/)
    const second = await get()
    const text = (answer: typeof first) =>
      answer.headers['content-encoding'] ? brotliDecompressSync(answer.body) : answer.body
    expect(second.headers['content-encoding']).to.equal('br')
    expect(text(second).equals(text(first))).to.equal(true)
  })

  it('is off with NO_COMPRESSION=1', async () => {
    const off = await start({ env: { NO_COMPRESSION: '1' } })
    const { src } = await uploadOne(off, { name: 'a.svg', bytes: SVG })
    const { headers, body } = await exchange(off, src, { headers: BR })
    expect(headers).not.to.have.any.keys('content-encoding', 'vary')
    expect(body.equals(SVG)).to.equal(true)
  })
})
