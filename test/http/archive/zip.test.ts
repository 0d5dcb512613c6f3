import { readdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { pluginFolder } from '../../support/drop-ins.ts'
import { colourAt, picture } from '../../support/media/images.ts'
import {
  entriesOf,
  manifestOf,
  unpacked,
  unpackedByTools,
  type ZipEntry,
} from '../../support/requests/archive.ts'
import { postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { emptied } from '../../support/storage.ts'
import { noise } from '../../support/stored/noise.ts'

onOneOrTwoBackends('POST /v1/zip', (start, backend, itOnce) => {
  let service: Service
  let png: WireRecord
  let text: WireRecord
  let inFolder: WireRecord
  let broken: WireRecord
  let photo: Buffer
  before(async () => {
    photo = await picture()
    service = await start({ env: { ZIP_RATE_LIMIT: '100000' } })
    png = await uploadOne(service, { name: 'a.png', bytes: photo })
    text = await uploadOne(service, { name: 'a.txt', bytes: 'some text, some text, some text' })
    inFolder = await uploadOne(service, { name: 'b.png', bytes: photo }, { path: 'Größe/b c' })
    const jpeg = await picture({ format: 'jpeg', width: 800, height: 600 })
    broken = await uploadOne(service, { name: 'c.jpg', bytes: jpeg.subarray(0, 200) })
  })

  async function archive(body: object): Promise<Buffer> {
    const response = await postZip(service, body)
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    return Buffer.from(await response.arrayBuffer())
  }

  async function entries(...files: object[]): Promise<ZipEntry[]> {
    return entriesOf(await archive({ files }))
  }

  const names = (list: ZipEntry[]) => list.map(({ name }) => name)

  it('responds with an archive as an attachment that is not cached', async () => {
    const response = await postZip(service, { files: [{ path: png.sourceName }] })
    const { headers } = response
    expect(response.status).to.equal(200)
    expect(headers.get('content-type')).to.equal('application/zip')
    expect(headers.get('content-disposition')).to.match(/^attachment; filename="?archive\.zip"?$/)
    expect(headers.get('cache-control')).to.equal('no-store')
    expect(headers.get('x-content-type-options')).to.equal('nosniff')
    const list = entriesOf(Buffer.from(await response.arrayBuffer()))
    expect(names(list)).to.deep.equal([png.sourceName, '_manifest.json'])
    expect(list[0]?.bytes.equals(photo)).to.equal(true)
    expect(manifestOf(list)).to.deep.equal([
      { path: png.sourceName, name: png.sourceName, status: 'ok', size: photo.length },
    ])
  })

  itOnce('accepts every spelling of a path, and uses the name as given', async () => {
    const list = await entries(
      { path: png.s3PathOriginal },
      { path: inFolder.s3PathOriginal },
      { path: inFolder.s3PathOriginal.split('/').map(encodeURIComponent).join('/'), name: 'encoded.png' },
      { path: `Größe/b c/${inFolder.sourceName}`, name: 'folder/größe.png' },
      { path: png.sourceName, type: 'image', name: 'typed.png' },
    )
    expect(names(list)).to.deep.equal([
      png.s3PathOriginal,
      inFolder.s3PathOriginal,
      'encoded.png',
      'folder/größe.png',
      'typed.png',
      '_manifest.json',
    ])
    for (const { name, bytes } of list.slice(0, -1)) expect(bytes.equals(photo), name).to.equal(true)
  })

  itOnce('finds files of every type without being told the type', async () => {
    const list = await entries(
      { path: text.s3PathOriginal, name: 'full.txt' },
      { path: text.sourceName, name: 'short.txt' },
      { path: text.sourceName, type: 'image', name: 'other.txt' },
    )
    expect(names(list)).to.deep.equal(['full.txt', 'short.txt', '_manifest.json'])
    expect(manifestOf(list)[2]).to.include({ status: 'error', code: 404 })
  })

  itOnce('accepts parameters as another word for params, but not both', async () => {
    const [entry] = await entries({ path: png.sourceName, parameters: { w: 20 } })
    expect((await sharp(entry?.bytes).metadata()).width).to.equal(20)
    const both = { path: png.sourceName, params: { w: 20 }, parameters: { w: 30 } }
    const response = await postZip(service, { files: [both] })
    expect(await response.json()).to.include({ status: 400, code: 'bad_parameter', param: 'files[0]' })
  })

  itOnce('keeps the requested order in archive and manifest', async () => {
    const files = Array.from({ length: 30 }, (_, i) => ({
      path: i % 3 === 0 ? png.sourceName : text.sourceName,
      type: i % 3 === 0 ? 'image' : 'text',
      ...(i % 3 === 0 ? { params: { w: 300 - i, f: 'webp' } } : {}),
      name: `${i}.bin`,
    }))
    const list = await entries(...files)
    const expected = files.map(({ name }) => name)
    expect(names(list)).to.deep.equal([...expected, '_manifest.json'])
    expect(manifestOf(list).map(({ name }) => name)).to.deep.equal(expected)
  })

  it('accepts 100 files', async () => {
    const list = await entries(
      ...Array.from({ length: 100 }, () => ({ path: text.sourceName, type: 'text' })),
    )
    expect(list).to.have.length(101)
    expect(new Set(names(list)).size).to.equal(101)
    expect(manifestOf(list)).to.have.length(100)
  })

  itOnce('applies parameters to each file, with numbers and booleans', async () => {
    const list = await entries(
      { path: png.sourceName, name: 'number', params: { w: 40, h: 30 } },
      { path: png.sourceName, name: 'text', params: { w: '40', height: '30' } },
      { path: png.sourceName, name: 'fraction', params: { w: 20, dpr: 1.5, f: 'webp' } },
      { path: png.sourceName, name: 'ignored', params: { utm_source: true, v: false } },
      { path: png.sourceName, name: 'none', params: {} },
      { path: png.sourceName, name: 'whole' },
    )
    const sizes = await Promise.all(
      list.slice(0, -1).map(async ({ bytes }) => {
        const { width, height, format } = await sharp(bytes).metadata()
        return `${width}x${height} ${format}`
      }),
    )
    expect(sizes).to.deep.equal([
      '40x30 png',
      '40x30 png',
      '30x23 webp',
      '400x300 png',
      '400x300 png',
      '400x300 png',
    ])
    // As its own delivery URL gives it.
    const { body } = await exchange(service, `${png.src}?w=40&h=30`)
    expect(list[0]?.bytes.equals(body)).to.equal(true)
    expect(manifestOf(list).map(({ size }) => size)).to.deep.equal(
      list.slice(0, -1).map(({ bytes }) => bytes.length),
    )
  })

  it('continues without the files that cannot be delivered, and the manifest states why', async () => {
    const missing = 'This file does not exist.'
    const derivative = `${png.s3PathOriginal}_w=77`
    const list = await entries(
      { path: 'missing.png' },
      { path: png.sourceName, name: 'first.png' },
      { path: broken.sourceName, params: { w: 10 }, name: 'broken.jpg' },
      { path: png.sourceName, params: { widht: 1 } },
      { path: png.sourceName, params: { w: 0 } },
      { path: png.sourceName, type: 'video' },
      { path: text.sourceName, type: 'audio' },
      { path: derivative },
      { path: broken.sourceName, name: 'last.jpg' },
    )
    expect(names(list)).to.deep.equal(['first.png', 'last.jpg', '_manifest.json'])
    expect(list[0]?.bytes.equals(photo)).to.equal(true)
    expect(manifestOf(list)).to.deep.equal([
      { path: 'missing.png', name: 'missing.png', status: 'error', code: 404, reason: missing },
      { path: png.sourceName, name: 'first.png', status: 'ok', size: photo.length },
      {
        path: broken.sourceName,
        name: 'broken.jpg',
        status: 'error',
        code: 422,
        reason: 'expected an image that can be decoded but this one cannot',
      },
      {
        path: png.sourceName,
        name: png.sourceName,
        status: 'error',
        code: 400,
        reason: 'there is no parameter "widht" for image files; did you mean "width"?',
      },
      {
        path: png.sourceName,
        name: png.sourceName,
        status: 'error',
        code: 400,
        reason: 'expected an integer from 1 to 5000 px or auto for w but received "0"',
      },
      { path: png.sourceName, name: png.sourceName, status: 'error', code: 404, reason: missing },
      { path: text.sourceName, name: text.sourceName, status: 'error', code: 404, reason: missing },
      { path: derivative, name: derivative, status: 'error', code: 404, reason: missing },
      { path: broken.sourceName, name: 'last.jpg', status: 'ok', size: 200 },
    ])
  })

  itOnce('logs why a file is missing at level info', async () => {
    const earlier = service.log.lines.length
    await entries({ path: 'missing.png' }, { path: broken.sourceName, params: { w: 11 } })
    const told = service.log.lines
      .slice(earlier)
      .filter(({ message }) => message === 'file skipped in archive')
    expect(told.map(({ level, fields: { path, status } }) => ({ level, path, status }))).to.deep.equal([
      { level: 'info', path: broken.sourceName, status: 422 },
    ])
    expect(told[0]?.fields.err).to.be.instanceOf(Error).with.property('message').that.matches(/jpeg/i)
  })

  itOnce('returns only the manifest when no file can be delivered', async () => {
    const list = await entries({ path: 'missing.png' }, { path: 'also/missing.png' })
    expect(names(list)).to.deep.equal(['_manifest.json'])
    expect(manifestOf(list).map(({ code }) => code)).to.deep.equal([404, 404])
  })

  it('compresses text and stores files that are already compressed', async () => {
    const list = await entries(
      { path: png.sourceName, name: 'a.png' },
      { path: text.sourceName, type: 'text', name: 'a.txt' },
      { path: png.sourceName, params: { f: 'webp' }, name: 'a.webp' },
    )
    expect(list.map(({ name, stored }) => [name, stored])).to.deep.equal([
      ['a.png', true],
      ['a.txt', false],
      ['a.webp', true],
      ['_manifest.json', false],
    ])
  })

  itOnce('is accepted by unzip, Python, bsdtar and 7z, with the bytes that are delivered', async () => {
    const large = await uploadOne(service, { name: 'large.bin', bytes: noise(3_000_000) })
    const page = await uploadOne(service, {
      name: 'page.html',
      bytes: `<!doctype html>${'<p>text'.repeat(300_000)}`,
    })
    const empty = await uploadOne(service, { name: 'empty', bytes: Buffer.alloc(1) })
    await emptied(service, empty)
    const expected = {
      'a.png': png.src,
      'small/größe 写真 🙂.png': `${png.src}?w=33&f=png`,
      'large.bin': large.src,
      'page.html': page.src,
      empty: empty.src,
      "with 'quotes' & _more_.png": inFolder.src,
    }
    const { folders, remove } = await unpackedByTools(
      await archive({
        files: [
          { path: png.sourceName, name: 'a.png' },
          { path: png.sourceName, name: 'small/größe 写真 🙂.png', params: { w: 33, f: 'png' } },
          { path: large.sourceName, type: 'application', name: 'large.bin' },
          { path: 'missing.png' },
          { path: page.sourceName, type: 'text', name: 'page.html' },
          { path: empty.sourceName, type: 'application', name: 'empty' },
          { path: inFolder.s3PathOriginal, name: 'with \'quotes\' & "more".png' },
        ],
      }),
    )
    for (const [name, address] of Object.entries(expected)) {
      const { body } = await exchange(service, address)
      for (const [tool, folder] of Object.entries(folders))
        expect((await unpacked(folder, name)).equals(body), `${name} by ${tool}`).to.equal(true)
    }
    for (const folder of Object.values(folders))
      expect(JSON.parse((await unpacked(folder, '_manifest.json')).toString())).to.have.length(7)
    await remove()
  })

  // The rest does not depend on the storage.
  if (backend !== EMBEDDED) return

  it('repeats the requested path in the manifest', async () => {
    const paths = [inFolder.s3PathOriginal.split('/').map(encodeURIComponent).join('/'), 'not%20there.png']
    const list = await entries(...paths.map((path) => ({ path })))
    expect(manifestOf(list).map(({ path }) => path)).to.deep.equal(paths)
  })

  it('passes true and false as 1 and 0', async () => {
    // Of these two words alone: a flag would take true and false as well.
    const folder = await pluginFolder({
      'digit.js': `export default {
        name: 'image-digit',
        engine: 'sharp',
        phase: 'effect',
        params: { digit: { type: 'enum', values: ['0', '1'], help: 'Green for 1, red for 0' } },
        transform: (image, { digit }) => image.linear([0, 0, 0], digit === '1' ? [0, 200, 0] : [200, 0, 0]),
      }`,
    })
    const other = await start({ env: { PLUGINS_DIR: folder } })
    const { sourceName } = await uploadOne(other, { name: 'a.png', bytes: photo })
    const response = await postZip(other, {
      files: [
        { path: sourceName, name: 'true', params: { digit: true } },
        { path: sourceName, name: 'false', params: { digit: false } },
      ],
    })
    const list = entriesOf(Buffer.from(await response.arrayBuffer()))
    expect(manifestOf(list).map(({ status }) => status)).to.deep.equal(['ok', 'ok'])
    const colours = await Promise.all(list.slice(0, 2).map(({ bytes }) => colourAt(bytes, 5, 5)))
    expect(colours).to.deep.equal([
      { r: 0, g: 200, b: 0, a: 255 },
      { r: 200, g: 0, b: 0, a: 255 },
    ])
    await rm(folder, { recursive: true })
  })

  it('numbers equal names, and one that equals that of the manifest', async () => {
    const list = await entries(
      { path: png.sourceName, name: 'a.png' },
      { path: png.sourceName, name: 'a.png' },
      { path: png.sourceName, name: 'a (2).png' },
      { path: png.sourceName, name: 'a.png' },
      { path: png.sourceName, name: 'x/a.png' },
      { path: png.sourceName, name: 'x.y/a' },
      { path: png.sourceName, name: 'x.y/a' },
      { path: png.sourceName, name: '.hidden' },
      { path: png.sourceName, name: '.hidden' },
      { path: png.sourceName, name: '_manifest.json' },
      { path: png.sourceName, name: 'x/_manifest.json' },
    )
    const expected = [
      'a.png',
      'a (2).png',
      'a (2) (2).png',
      'a (3).png',
      'x/a.png',
      'x.y/a',
      'x.y/a (2)',
      '.hidden',
      '.hidden (2)',
      '_manifest (2).json',
      'x/_manifest.json',
    ]
    expect(names(list)).to.deep.equal([...expected, '_manifest.json'])
    expect(manifestOf(list).map(({ name }) => name)).to.deep.equal(expected)
  })

  it('gives the name of a missing file to the next file of that name', async () => {
    const list = await entries(
      { path: 'missing.png', name: 'a.png' },
      { path: png.sourceName, name: 'a.png' },
    )
    expect(names(list)).to.deep.equal(['a.png', '_manifest.json'])
  })

  it('has names that unzip, Python, bsdtar and 7z read correctly, 70,000 bytes of them', async () => {
    const odd = [
      'größe 写真 🙂👩‍👩‍👧.png',
      'e\u0301 in two code points.png',
      'עברית/مرحبا.png',
      "with 'quotes' & more.png",
      '1.png',
      '-rf ;$(echo) `id`',
      '\u200b\ufeff\u00a0.png',
      '%41%2e%2e%2f.png',
      ' led by a space',
      `${'x'.repeat(251)}.png`,
    ]
    const long = Array.from(
      { length: 70 },
      (_, i) => `${Array(4).fill('ü'.repeat(120)).join('/')}/${i}${'-'.repeat(40)}`,
    )
    const all = [...odd, ...long]
    const { folders, remove } = await unpackedByTools(
      await archive({ files: all.map((name) => ({ path: png.sourceName, name })) }),
    )
    for (const [tool, folder] of Object.entries(folders)) {
      const found = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
      // bsdtar joins what is two code points.
      const names = files.map((file) => relative(folder, file).normalize()).sort()
      expect(names, tool).to.deep.equal([...all, '_manifest.json'].map((name) => name.normalize()).sort())
    }
    await remove()
  })

  it('has names that Windows can unpack, and the manifest lists the changed ones', async () => {
    const portable = {
      con: 'con_',
      'NUL.tar.gz': 'NUL_.tar.gz',
      'com1 .txt/aux/LPT².png': 'com1_ .txt/aux_/LPT²_.png',
      'a.': 'a_',
      'a ': 'a_ (2)',
      a_: 'a_ (3)',
      'b. . /c...': 'b. ._/c.._',
      'C:/12:30 "x".png': 'C_/12_30 _x_.png',
      '<>|?*\u0007\u202e.png': '_______.png',
      'console.txt': 'console.txt',
      'ends in nul': 'ends in nul',
    }
    const files = Object.keys(portable).map((name) => ({ path: png.sourceName, name }))
    const archived = await archive({ files: [...files, { path: 'missing.png', name: 'aux' }] })
    const told = manifestOf(entriesOf(archived)).map(({ name }) => name)
    // The last is not in the archive: its name is the one that was requested.
    expect(told).to.deep.equal([...Object.values(portable), 'aux'])
    const { folders, remove } = await unpackedByTools(archived)
    const { body } = await exchange(service, png.src)
    for (const [tool, folder] of Object.entries(folders))
      for (const name of Object.values(portable))
        expect((await unpacked(folder, name)).equals(body), `${name} by ${tool}`).to.equal(true)
    await remove()
  })

  const archiveNames: Array<[name: string, parameters: string]> = [
    ['photos.zip', 'filename="photos.zip"'],
    [
      'my "best" photos.zip',
      `filename="my _best_ photos.zip"; filename*=UTF-8''my%20%22best%22%20photos.zip`,
    ],
    ['写真.zip', `filename="__.zip"; filename*=UTF-8''%E5%86%99%E7%9C%9F.zip`],
    ['a;b,c.zip', 'filename="a;b,c.zip"'],
    ['photos.ZIP', 'filename="photos.ZIP"'],
    ['no extension', 'filename="no extension.zip"'],
    ['page.html', 'filename="page.html.zip"'],
    [
      ` ${'é'.repeat(125)}x`,
      `filename="${'e'.repeat(125)}x.zip"; filename*=UTF-8''${'%C3%A9'.repeat(125)}x.zip`,
    ],
    // Some browsers decode what looks encoded in `filename`: the second form leaves no doubt.
    ['100%25.zip', `filename="100_25.zip"; filename*=UTF-8''100%2525.zip`],
  ]
  for (const [archiveName, parameters] of archiveNames) {
    it(`names the archive ${archiveName}`, async () => {
      const response = await postZip(service, { files: [{ path: png.sourceName }], archiveName })
      expect(response.status).to.equal(200)
      expect(response.headers.get('content-disposition')).to.equal(`attachment; ${parameters}`)
      expect(response.headers.get('content-type')).to.equal('application/zip')
      entriesOf(Buffer.from(await response.arrayBuffer()))
    })
  }
})
