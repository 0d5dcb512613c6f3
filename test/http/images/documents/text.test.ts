import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../../support/backends.ts'
import { mutated } from '../../../support/media/mutated.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import type { Service } from '../../../support/service.ts'
import { everyNth, itLong, sized } from '../../../support/sized.ts'

const TABLE = 'name,price\nTea,3\n'
// Each has a name and bytes, and is delivered with this type.
const FILES = [
  ['notes.txt', 'Hello\n', 'text/plain; charset=utf-8'],
  ['read.me.md', '# Hello\n', 'text/markdown; charset=utf-8'],
  ['table.csv', TABLE, 'text/csv; charset=utf-8'],
  ['page.html', '<!doctype html><title>Hello</title>\n', 'text/html; charset=utf-8'],
  ['data.json', '{"hello": 1}\n', 'application/json'],
  ['feed.xml', '<?xml version="1.0"?><feed/>\n', 'application/xml'],
  ['values.yaml', 'hello: 1\n', 'text/plain; charset=utf-8'],
  ['main.py', 'print("hello")\n', 'text/plain; charset=utf-8'],
] as const

onOneBackend('a text', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  const upload = async (name: string, bytes: string | Buffer) =>
    (await uploadOne(service, { name, bytes: Buffer.from(bytes) })).src

  it('is a picture of its first lines with image parameters, and stays a text without them', async () => {
    for (const [name, content, type] of everyNth(3, FILES)) {
      const src = await upload(name, content)
      const shown = await exchange(service, `${src}?w=300&f=webp`)
      expect(shown.status, `${name} ${shown.body.toString('latin1', 0, 300)}`).to.equal(200)
      expect(shown.headers['content-type'], name).to.equal('image/webp')
      expect(await sharp(shown.body).metadata(), name).to.include({ width: 300, height: 424 })
      const { channels } = await sharp(shown.body).stats()
      expect(channels[0], name).to.include({ max: 255 })
      expect(channels[0]?.min, name).to.be.below(128)
      for (const query of ['', '?download', '?download=a.txt']) {
        const { status, headers, body } = await exchange(service, `${src}${query}`)
        expect(status).to.equal(200)
        expect(headers['content-type'], name).to.equal(type)
        expect(body.toString(), name).to.equal(content)
      }
    }
  })

  itLong('is a PNG of the whole page without f, and with thumbnail', async () => {
    const src = await upload('table.csv', TABLE)
    for (const query of everyNth(2, ['thumbnail', 'page=1', 'thumbnail&page=1'])) {
      const { headers, body } = await exchange(service, `${src}?${query}`)
      expect(headers['content-type'], query).to.equal('image/png')
      expect(await sharp(body).metadata(), query).to.include({ width: 1240, height: 1754 })
    }
    const second = jsonOf(await exchange(service, `${src}?page=2&w=20`))
    expect(second).to.include({ status: 400, code: 'bad_parameter', param: 'page' })
  })

  it('may be larger than an image', async () => {
    const small = await start({ env: { IMAGE_MAX_BYTES: '100000' } })
    const { src } = await uploadOne(small, { name: 'a.log', bytes: Buffer.alloc(1_000_000, 'line\n') })
    expect((await exchange(small, `${src}?w=20`)).status).to.equal(200)
  })

  it('has its lines, its encoding and the size of its page in its information', async () => {
    const page = { width: 1240, height: 1754, pages: 1 }
    for (const [name, bytes, lines, encoding] of [
      ['table.csv', TABLE, 2, 'utf-8'],
      ['a.txt', 'one\r\ntwo\rthree', 3, 'utf-8'],
      ['a.txt', Buffer.from('\ufeffna\u00efve\n\n', 'utf16le'), 2, 'utf-16le'],
      ['a.txt', Buffer.from('na\u00efve', 'latin1'), 1, 'windows-1252'],
      ['data.json', '{"hello": 1}\n', 1, 'utf-8'],
    ] as const) {
      const known = await exchange(service, (await upload(name, bytes)).replace('/upload/', '/info/'))
      expect(jsonOf(known), name).to.deep.include({
        size: Buffer.byteLength(bytes),
        lines,
        encoding,
        ...page,
      })
    }
    const long = await exchange(
      service,
      (await upload('a.log', 'line\n'.repeat(300_000))).replace('/upload/', '/info/'),
    )
    expect(jsonOf(long))
      .to.include({ encoding: 'utf-8', ...page })
      .and.not.include.keys('lines')
  })

  it('never stops the service, whatever its bytes are', async function () {
    this.timeout(sized(60_000, 1_200_000))
    const files = ['# Title\n\ntext text\n', '<a>\u05d0\u202e\u{1f600}</a>\n'].map((text) =>
      Buffer.from(text.repeat(40)),
    )
    for (const bytes of mutated(files, { count: sized(2, 2000), spared: 0 })) {
      const { src, format } = await uploadOne(service, { name: 'a.md', bytes })
      const { status } = await exchange(service, `${src}?w=24`)
      // A byte may make it a binary file.
      expect(status, format).to.equal(format === 'markdown' ? 200 : 422)
    }
  })
})
