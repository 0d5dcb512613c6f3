import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { expect } from 'chai'
import sharp from 'sharp'
// @ts-expect-error: the scripts have no types
import { planesOf, ssim } from '../../../../scripts/bench/encoders/ssim.js'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { onOneBackend } from '../../../support/backends.ts'
import { eventually } from '../../../support/eventually.ts'
import { expectSurvival } from '../../../support/media/surviving.ts'
import { NO_LIMITS } from '../../../support/no-limits.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../../support/service.ts'
import { everyNth, itLong, sized } from '../../../support/sized.ts'
import { settled } from '../../../support/stored/settled.ts'

const run = promisify(execFile)
const pathOf = (name: string) => join(PROJECT, 'test/corpus/files', name)
const fileOf = (name: string) => readFile(pathOf(name))
const infoOf = (src: string) => src.replace('/upload/', '/info/')

// The page of each file that is compared with the one that poppler draws.
const PAGES = [
  ['pdf-ghostscript.pdf', 2],
  ['pdf-turned.pdf', 1],
  ...sized([], [
    ['pdf-restricted.pdf', 1],
    ['pdf-ghostscript.pdf', 1],
    ['pdf-scan.pdf', 1],
    ['pdf-chromium.pdf', 1],
  ] as const),
] as const

onOneBackend('a PDF', (start) => {
  let service: Service
  /** One with proxies of all pages here. */
  let large: Service
  before(async () => {
    service = await start({ env: NO_LIMITS })
    large = await start({ env: { PROXY_FROM_MEGAPIXELS: '1', VARIANT_LIMIT: '20' } })
  })

  const uploads = new Map<string, Promise<WireRecord>>()
  /** By default, a file of the corpus, which is uploaded once. */
  const upload = (name: string, bytes?: Buffer) => {
    if (bytes) return uploadOne(service, { name, bytes })
    const known = uploads.get(name) ?? fileOf(name).then((own) => uploadOne(service, { name, bytes: own }))
    uploads.set(name, known)
    return known
  }

  it('has each page drawn once: later widths come from the proxy', async () => {
    const record = await uploadOne(large, { name: 'a.pdf', bytes: await fileOf('pdf-ghostscript.pdf') })
    const first = await exchange(large, `${record.src}?w=300&f=png`)
    expect((await exchange(large, `${record.src}?w=300&f=png&page=2`)).status).to.equal(200)
    await eventually(async () => {
      const all = await large.objects()
      for (const end of ['_proxy', '_proxy-p2'])
        expect(
          all.some((key) => key.endsWith(end)),
          end,
        ).to.equal(true)
    })
    const { width = 0, height = 0 } = await sharp(first.body).metadata()
    // From now on, nothing can be rendered from the original.
    const bytes = Buffer.alloc(record.size, 'no document ')
    const bucket = large.storage.buckets.of({ id: 'first', token: '' })
    await bucket.put(storedKey(record.s3PathOriginal), Readable.from([bytes]), {
      mediaType: 'application/pdf',
    })
    const { status, body } = await exchange(large, `${record.src}?w=600&f=png`)
    expect(status, body.toString('utf8', 0, 100)).to.equal(200)
    const later = await sharp(body).metadata()
    expect(later.width).to.equal(600)
    expect(later.height).to.be.closeTo((600 * height) / width, 2)
    const second = await exchange(large, `${record.src}?w=600&page=2&f=png`)
    expect(second.status, second.body.toString('utf8', 0, 100)).to.equal(200)
    // The second page has 400 x 200 points.
    expect(await sharp(second.body).metadata()).to.include({ width: 600, height: 300 })
    // Neither page is in the proxy of the other.
    expect((await exchange(large, `${record.src}?w=600&page=3`)).status).to.equal(422)
    expect((await exchange(large, `${record.src}_proxy-p2`)).status).to.equal(404)
    const authorization = large.tokens.secretClientToken
    const path = `/v1/files/${encodeURIComponent(record.s3PathOriginal)}`
    const known = jsonOf(await exchange(large, path, { headers: { authorization } }))
    expect(JSON.stringify(known)).to.include('w=600').and.not.include('_proxy')
    await deleteFile(large, record.s3PathOriginal)
    expect((await large.objects()).join()).to.not.include('_proxy')
  })

  itLong(
    'has proxies of few pages: the least recently used one is evicted, and none counts as a derivative',
    async function () {
      this.timeout(120_000)
      const { src, sourceName } = await uploadOne(large, { name: 'a.pdf', bytes: manyPages(18) })
      const ofPages = async (end: RegExp) =>
        (await large.objects())
          .filter((key) => key.includes(sourceName))
          .flatMap((key) => Number(end.exec(key)?.[1] ?? 0) || [])
      for (let page = 2; page <= 18; page += 1) {
        expect((await exchange(large, `${src}?w=20&page=${page}`)).status).to.equal(200)
        await eventually(async () => expect(await ofPages(/_proxy-p(\d+)$/)).to.include(page))
        expect(await ofPages(/_proxy-p(\d+)$/)).to.have.length(Math.min(page - 1, 16))
      }
      const last = Array.from({ length: 16 }, (_, i) => i + 3)
      expect(await ofPages(/_proxy-p(\d+)$/)).to.have.members(last)
      await settled(large)
      expect(await ofPages(/_page=(\d+)/)).to.have.length(17)
    },
  )

  itLong('is rendered as poppler renders it, each page in its size', async () => {
    const uploads = new Map<string, string>()
    for (const [name, page] of PAGES) {
      const src = uploads.get(name) ?? (await upload(name)).src
      uploads.set(name, src)
      const { status, headers, body } = await exchange(
        service,
        `${src}?page=${page}&w=400&h=400&fit=inside&f=webp&q=95`,
      )
      expect(status, `${name} ${body.toString('latin1', 0, 200)}`).to.equal(200)
      expect(headers['content-type']).to.equal('image/webp')
      const options = ['-f', `${page}`, '-l', `${page}`, '-scale-to', '400', '-png']
      const { stdout } = await run('pdftoppm', [...options, pathOf(name)], { encoding: 'buffer' })
      const { width = 0, height = 0 } = await sharp(stdout).metadata()
      const ours = await sharp(body).metadata()
      expect(ours.width, name).to.be.closeTo(width, 1)
      expect(ours.height, name).to.be.closeTo(height, 1)
      const one = await sharp(body).resize(width, height, { fit: 'fill' }).png().toBuffer()
      const alike = ssim(await planesOf(one), await planesOf(stdout), { width, height })
      expect(alike, `${name}, page ${page}`).to.be.above(0.96)
    }
  })

  it('is a PNG of its first page without f and page', async () => {
    const { src } = await upload('pdf-ghostscript.pdf')
    for (const query of everyNth(3, ['w=200', 'page=1&w=200', 'page=1&w=200&h=100&fit=inside'])) {
      const { headers, body } = await exchange(service, `${src}?${query}`)
      expect(headers['content-type'], query).to.equal('image/png')
      const { width = 0, height = 0 } = await sharp(body).metadata()
      expect(height / width, query).to.be.closeTo(842 / 595, 0.02)
    }
    const whole = await exchange(service, `${src}?page=2`)
    expect(await sharp(whole.body).metadata()).to.include({ width: 2560, height: 1280 })
  })

  it('has its pages and their sizes in its information', async () => {
    const known = await exchange(service, infoOf((await upload('pdf-ghostscript.pdf')).src))
    expect(known.status).to.equal(200)
    expect(jsonOf(known)).to.deep.include({
      mimeType: 'application',
      format: 'pdf',
      pages: 2,
      pageSizes: [
        { width: 595, height: 842 },
        { width: 400, height: 200 },
      ],
      width: 1809,
      height: 2560,
      hasAlpha: false,
    })
    expect(jsonOf(known)).to.include.keys('thumbHash', 'lqip')
  })

  itLong('names the scripts of text whose font is not in the file', async () => {
    const page =
      '/Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >>'
    const shown = 'BT /F 24 Tf 20 40 Td <65E5672C3042> Tj ET'
    const system = '<< /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >>'
    const objects = [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< ${page} >>`,
      `<< /Length ${shown.length} >>\nstream\n${shown}\nendstream`,
      '<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [6 0 R] >>',
      `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo ${system} /FontDescriptor 7 0 R >>`,
      '<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>',
    ]
    const bytes = `%PDF-1.4\n${objects.map((one, i) => `${i + 1} 0 obj\n${one}\nendobj\n`).join('')}trailer << /Root 1 0 R /Size 8 >>\n%%EOF`
    const { src } = await uploadOne(service, { name: 'japanese.pdf', bytes })
    const known = jsonOf(await exchange(service, infoOf(src)))
    expect(known).to.deep.include({ pages: 1, scriptsWithoutFont: ['Chinese', 'Japanese'] })
    const embedded = jsonOf(await exchange(service, infoOf((await upload('pdf-chromium.pdf')).src)))
    expect(embedded).not.to.have.property('scriptsWithoutFont')
  })

  it('returns 400 for a page after the last one', async () => {
    const answer = await exchange(service, `${(await upload('pdf-ghostscript.pdf')).src}?page=3`)
    expect(answer.status).to.equal(400)
    expect(jsonOf(answer)).to.include({ code: 'bad_parameter', param: 'page', received: '3' })
  })

  it('returns 422 when it has no pages', async () => {
    const text = (await fileOf('pdf-ghostscript.pdf')).toString('latin1')
    const { src } = await upload(
      'a.pdf',
      Buffer.from(text.replace('3 0 obj\n<< /Type /Pages', '3 0 0bj\n<< /Type /Pages'), 'latin1'),
    )
    expect(jsonOf(await exchange(service, `${src}?w=24`))).to.include({
      status: 422,
      code: 'not_transformable',
    })
  })

  itLong('has a problem in its information when one of its pages cannot be read', async () => {
    const objects = [
      '1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj',
      // The list of pages is one of its own pages.
      '2 0 obj<</Type/Pages/Count 9/Kids[2 0 R 3 0 R]>>endobj',
      '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj',
      'trailer<</Root 1 0 R>>',
    ]
    const { src } = await upload('a.pdf', Buffer.from(`%PDF-1.7\n${objects.join('\n')}\n%%EOF`))
    expect((await exchange(service, `${src}?w=24`)).status).to.equal(200)
    const known = await exchange(service, infoOf(src))
    expect(known.status, known.body.toString()).to.equal(200)
    expect(jsonOf(known).problem).to.include({ code: 'not_transformable' })
  })

  it('returns 422 when it needs a password, and remains available', async () => {
    const bytes = await fileOf('pdf-encrypted.pdf')
    const { src } = await upload('pdf-encrypted.pdf')
    const answer = await exchange(service, `${src}?page=1&w=300`)
    expect(answer.status).to.equal(422)
    expect(jsonOf(answer)).to.include({ code: 'encrypted_file' })
    const known = await exchange(service, infoOf(src))
    expect(known.status).to.equal(200)
    expect(jsonOf(known).problem).to.include({ code: 'encrypted_file' })
    expect((await exchange(service, src)).body.equals(bytes)).to.equal(true)
  })

  it('is refused above the pixel limit', async () => {
    const small = await start({ env: { IMAGE_MAX_PIXELS: '100000' } })
    const { src } = await uploadOne(small, { name: 'a.pdf', bytes: await fileOf('pdf-scan.pdf') })
    expect(jsonOf(await exchange(small, `${src}?w=24`))).to.include({
      status: 422,
      code: 'not_transformable',
    })
  })

  // Of an SVG: ../../../process/web/hostile/attacks.test.ts.
  itLong('is stopped when a page takes too long to draw', async () => {
    const short = await start({ env: { TRANSFORM_KILL_SECONDS: '1' } })
    const { src } = await uploadOne(short, { name: 'a.pdf', bytes: slowPage() })
    const answer = jsonOf(await exchange(short, `${src}?w=24`))
    expect(answer).to.include({ status: 422, code: 'not_transformable', reason: 'too_slow' })
  })

  it('never stops the service, whatever its bytes are', async function () {
    this.timeout(sized(60_000, 1_200_000))
    const files = [
      await fileOf('pdf-ghostscript.pdf'),
      await fileOf('pdf-chromium.pdf'),
      await fileOf('pdf-scan.pdf'),
    ] as const
    const how = { name: 'a.pdf', query: 'w=24', count: sized(4, 2000), spared: 8 }
    await expectSurvival(service, files, how)
  })
})

/** A PDF that fills its page twenty thousand times. Each fill takes a millisecond. */
function slowPage(): Buffer {
  const content = '0 0 9 9 re f\n'.repeat(20_000)
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>',
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
  ])
}

/** A PDF with this number of empty pages, which are flat: drawn with 1.02 megapixels, just enough for a proxy. */
function manyPages(count: number): Buffer {
  const kids = Array.from({ length: count }, (_, i) => `${i + 3} 0 R`)
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids.join(' ')}]/Count ${count}>>`,
    ...kids.map(() => '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 31]>>'),
  ])
}

function pdfOf(objects: readonly string[]): Buffer {
  let body = '%PDF-1.4\n'
  let table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`
  for (const [i, object] of objects.entries()) {
    table += `${String(body.length).padStart(10, '0')} 00000 n \n`
    body += `${i + 1} 0 obj\n${object}\nendobj\n`
  }
  const trailer = `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF\n`
  return Buffer.from(`${body}${table}${trailer}`)
}
