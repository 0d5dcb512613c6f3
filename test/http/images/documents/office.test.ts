import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import sharp from 'sharp'
// @ts-expect-error: the scripts have no types
import { planesOf, ssim } from '../../../../scripts/bench/encoders/ssim.js'
import { onOneBackend } from '../../../support/backends.ts'
import { eventually } from '../../../support/eventually.ts'
import { picture } from '../../../support/media/images.ts'
import { mutated } from '../../../support/media/mutated.ts'
import { zipped } from '../../../support/media/zipped.ts'
import { NO_LIMITS } from '../../../support/no-limits.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../../support/service.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const run = promisify(execFile)
// Each takes a start of LibreOffice. Other tests here draw documents of Writer and Calc, and one of the sandbox a presentation.
const DRAWN: ReadonlyArray<readonly [name: string, width: number, height: number]> = sized(
  [],
  [
    ['word-2003.doc', 64, 83],
    ['powerpoint-2003.ppt', 64, 48],
    ['excel-2002.xls', 64, 91],
  ],
)
const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))

onOneBackend('an Office document', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: NO_LIMITS })
  })

  const upload = async (name: string, bytes?: Buffer) =>
    (await uploadOne(service, { name, bytes: bytes ?? (await fileOf(name)) })).src

  it('is drawn from a PDF that a job renders once, has its pages in its information from then on, and is deleted with it', async () => {
    const src = await upload('libreoffice.docx')
    const info = src.replace('/upload/', '/info/')
    const before = await exchange(service, info)
    expect(before.status).to.equal(200)
    expect(jsonOf(before)).to.include({ format: 'docx' }).and.not.include.keys('pages', 'problem')
    expect(before.headers['cache-control']).to.include('max-age=60')
    // No job has begun.
    expect((await service.objects()).filter((key) => key.includes('_pdf'))).to.deep.equal([])
    const first = await exchange(service, `${src}?page=2&w=400&h=400&fit=inside&f=webp&q=95`)
    expect(jsonOf(first), first.body.toString()).to.include({ status: 423, code: 'not_ready' })
    expect(first.headers['retry-after']).to.equal('3')
    const page = await exchange(service, `${src}?page=2&w=400&h=400&fit=inside&f=webp&q=95&wait=30`)
    expect(page.status, page.body.toString('latin1', 0, 300)).to.equal(200)
    const pdf = await exchange(service, `${src}?pdf`)
    expect(pdf.headers['content-type']).to.equal('application/pdf')
    await expectAlike(page.body, pdf.body, 2)
    const known = await exchange(service, info)
    expect(known.headers['cache-control']).to.include('max-age=604800')
    const { pages, pageSizes, ...facts } = jsonOf(known)
    expect(pages).to.equal(2)
    expect(pageSizes).to.have.length(2)
    expect(facts).to.include({ format: 'docx', hasAlpha: false }).and.include.keys('width', 'thumbHash')
    // From the same PDF, without another job.
    const other = await exchange(service, `${src}?w=100`)
    expect(other.headers['content-type']).to.equal('image/png')
    // The smaller copy of the first page comes from it, too.
    await eventually(async () => expect((await service.objects()).join()).to.include('_proxy'))
    const past = await exchange(service, `${src}?page=3`)
    expect(jsonOf(past)).to.include({ status: 400, code: 'bad_parameter', param: 'page' })
    const { status, body } = await exchange(service, src)
    expect(status).to.equal(200)
    expect(body.equals(await fileOf('libreoffice.docx'))).to.equal(true)
    const job = String(jsonOf(first).job)
    expect(jsonOf(await exchange(service, job))).to.include({ state: 'done' })
    const key = decodeURIComponent(new URL(src).pathname).replace(/^.*\/upload\/[^/]+/, '/v1/upload')
    const authorization = service.tokens.secretClientToken
    const gone = await exchange(service, key, { method: 'DELETE', headers: { authorization } })
    expect(gone.status, gone.body.toString()).to.equal(200)
    for (const path of [`${src}?pdf`, `${src}?w=100`, job])
      expect((await exchange(service, path)).status, path).to.equal(404)
  })

  it('loads no file of the machine, and nothing of other servers', async () => {
    const requests: string[] = []
    const server = createServer(({ url = '' }, response) => {
      requests.push(url)
      response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const secret = join(await temporaryFolder(), 'secret.png')
      await writeFile(secret, await picture({ width: 300, height: 200, format: 'png' }))
      const src = await upload('a.odt', await naming([`file://${secret}`, `${addressOf(server)}/a.png`]))
      const pdf = await exchange(service, `${src}?pdf&wait=30`)
      expect(pdf.status, pdf.body.toString('latin1', 0, 300)).to.equal(200)
      const { width: images } = await listed(pdf.body)
      // Only the sign of a missing image.
      expect(images.filter((width) => width > 100)).to.deep.equal([])
      expect(requests).to.deep.equal([])
    } finally {
      server.close()
    }
  })

  itLong('never stops the service, whatever its bytes are', async function () {
    this.timeout(1_200_000)
    const statuses = new Set<number>()
    const files = await Promise.all(['libreoffice.odt', 'libreoffice.doc', 'libreoffice.rtf'].map(fileOf))
    for (const bytes of mutated(files, { count: 200, spared: 80 })) {
      const { src } = await uploadOne(service, { name: 'a.doc', bytes })
      statuses.add((await exchange(service, `${src}?w=24&wait=30`)).status)
    }
    // A byte may make it a ZIP or a file of an unknown format.
    expect([200, 400, 422]).to.include.members([...statuses])
  })

  // In `npm test`, the password below is enough: each takes a start of LibreOffice.
  itLong('is refused when it is broken', async () => {
    const bytes = (await fileOf('libreoffice.doc')).subarray(0, 3000)
    const { src, format } = await uploadOne(service, { name: 'a.doc', bytes })
    expect(format).to.equal('doc')
    const broken = jsonOf(await exchange(service, `${src}?w=24&wait=30`))
    expect(broken).to.include({ status: 422, code: 'not_transformable', reason: 'broken' })
  })

  it('returns 422 when it has a password, and is delivered', async () => {
    for (const name of [
      'word-encrypted.docx',
      ...sized([], ['powerpoint-encrypted.ppt', 'excel-encrypted.xls']),
    ]) {
      const { src, format } = await uploadOne(service, { name, bytes: await fileOf(name) })
      expect(format, name).to.equal(name.split('.')[1])
      const answer = jsonOf(await exchange(service, `${src}?w=24&wait=30`))
      expect(answer, name).to.include({ status: 422, code: 'encrypted_file' })
      expect(answer.detail).to.include('This document is encrypted with a password')
      expect((await exchange(service, src)).body.equals(await fileOf(name))).to.equal(true)
    }
  })

  itLong('is shown when Excel protects it with a password that LibreOffice knows, too', async () => {
    const shown = await exchange(service, `${await upload('excel-protected.xlsx')}?w=24&wait=30`)
    expect(shown.status, shown.body.toString('latin1', 0, 300)).to.equal(200)
  })

  for (const [name, width, height] of DRAWN)
    it(`of Microsoft Office is drawn: ${name}`, async () => {
      const { status, body } = await exchange(service, `${await upload(name)}?w=64&wait=30`)
      expect(status, body.toString('latin1', 0, 300)).to.equal(200)
      expect(await sharp(body).metadata()).to.include({ width, height })
    })

  it('returns 501 with the command that installs LibreOffice; PDF and everything else is delivered', async () => {
    const path = process.env.PATH
    process.env.PATH = '/nowhere'
    try {
      const without = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
      const bytes = await fileOf('libreoffice.docx')
      const { src } = await uploadOne(without, { name: 'a.docx', bytes })
      const { detail, ...problem } = jsonOf(await exchange(without, `${src}?w=80`))
      expect(problem).to.include({ status: 501, code: 'not_installed' })
      expect(detail).to.equal(
        'Transformations of Office documents need LibreOffice, which this server does not have. Install with: sudo apt-get install --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui',
      )
      expect((await exchange(without, src)).body.equals(bytes)).to.equal(true)
    } finally {
      process.env.PATH = path
    }
  })

  it('is called by its format in messages about parameters', async () => {
    const docx = await upload('libreoffice.docx')
    const unknown = jsonOf(await exchange(service, `${docx}?unknown_parameter=1`))
    expect(unknown).to.include({ status: 400, code: 'unknown_parameter' })
    expect(unknown.detail).to.match(/^there is no parameter "unknown_parameter" for docx files; /)
    const preset = jsonOf(await exchange(service, `${docx}?preset=unknown`))
    expect(preset.detail).to.match(/^there is no preset "unknown" for docx files; /)
    const combined = jsonOf(await exchange(service, `${docx}?pdf&w=80`))
    expect(combined).to.include({ status: 400, code: 'unknown_parameter' })
    expect(combined.detail).to.equal('w cannot be combined with pdf: remove one of them')
  })

  it('has no parameter pdf when it is another file', async () => {
    const pdf = await fileOf('pdf-scan.pdf')
    expect((await exchange(service, `${await upload('pdf-scan.pdf')}?pdf`)).body.equals(pdf)).to.equal(true)
    const zip = jsonOf(await exchange(service, `${await upload('archive.zip')}?pdf`))
    expect(zip).to.include({ status: 422, code: 'not_transformable' })
  })
})

/** Compares a page with what poppler draws. */
async function expectAlike(page: Buffer, pdf: Buffer, number: number): Promise<void> {
  const path = join(await temporaryFolder(), 'a.pdf')
  await writeFile(path, pdf)
  const options = ['-f', `${number}`, '-l', `${number}`, '-scale-to', '400', '-png', path]
  const { stdout } = await run('pdftoppm', options, { encoding: 'buffer' })
  const { width = 0, height = 0 } = await sharp(stdout).metadata()
  const one = await sharp(page).resize(width, height, { fit: 'fill' }).png().toBuffer()
  expect(ssim(await planesOf(one), await planesOf(stdout), { width, height })).to.be.above(0.96)
}

/** The widths of the images in a PDF. */
async function listed(pdf: Buffer): Promise<{ width: number[] }> {
  const path = join(await temporaryFolder(), 'a.pdf')
  await writeFile(path, pdf)
  const { stdout } = await run('pdfimages', ['-list', path])
  const rows = stdout.trim().split('\n').slice(2)
  return { width: rows.map((row) => Number(row.trim().split(/\s+/)[3])) }
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An OpenDocument text with images at these addresses. */
function naming(addresses: readonly string[]): Promise<Buffer> {
  const type = 'application/vnd.oasis.opendocument.text'
  const names = ['office', 'text', 'manifest'].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  )
  const drawing = [
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"',
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"',
    'xmlns:xlink="http://www.w3.org/1999/xlink"',
  ]
  const images = addresses.map(
    (href) =>
      `<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:image xlink:href="${href}" xlink:type="simple"/></draw:frame></text:p>`,
  )
  const entry = (path: string, media: string) =>
    `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${media}"/>`
  return zipped({
    mimetype: type,
    'META-INF/manifest.xml': `<manifest:manifest ${names[2]}>${entry('/', type)}${entry('content.xml', 'text/xml')}</manifest:manifest>`,
    'content.xml': `<office:document-content ${[...names, ...drawing].join(' ')} office:version="1.2"><office:body><office:text>${images.join('')}</office:text></office:body></office:document-content>`,
  })
}
