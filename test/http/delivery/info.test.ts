import { decode as decodeBlurHash } from 'blurhash'
import { expect } from 'chai'
import sharp from 'sharp'
import { thumbHashToAverageRGBA, thumbHashToRGBA } from 'thumbhash'
import { onOneBackend } from '../../support/backends.ts'
import { watchedEngine } from '../../support/media/engines.ts'
import { animation, corrupted, photograph, picture } from '../../support/media/images.ts'
import { deleteFile, newClient, rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { settled } from '../../support/stored/settled.ts'

/** The address of what is known of a file. */
const infoOf = ({ src }: Pick<WireRecord, 'src'>) => src.replace('/upload/', '/info/')

onOneBackend('GET /v1/image/info', (start) => {
  const watched = watchedEngine()
  let service: Service
  before(async () => {
    service = await start({ engines: [watched.engine] })
  })
  afterEach(() => watched.release())

  const upload = async (name: string, bytes: Uint8Array | string, options = {}) =>
    uploadOne(service, { name, bytes }, options)

  async function told(record: WireRecord, query = ''): Promise<Record<string, unknown>> {
    const answer = await exchange(service, `${infoOf(record)}${query}`)
    expect(answer.status, answer.body.toString()).to.equal(200)
    return jsonOf(answer)
  }

  it('returns type, size and colours of an image', async () => {
    const record = await upload('corners.png', await picture())
    const { thumbHash, blurHash, lqip, dominantColor, sha256, uploadedAt, ...rest } = await told(record)
    expect(rest).to.deep.equal({
      sourceName: record.sourceName,
      originalName: 'corners.png',
      mimeType: 'image',
      format: 'png',
      mediaType: 'image/png',
      size: record.size,
      width: 400,
      height: 300,
      pages: 1,
      hasAlpha: true,
      colorSpace: 'srgb',
    })
    expect(sha256).to.match(/^[0-9a-f]{64}$/)
    expect(Math.abs(Date.parse(String(uploadedAt)) - Date.now())).to.be.below(60_000)
    expect(dominantColor).to.match(/^#(ff0000|00ff00|0000ff|ffffff)$/)
    // Its corners are red, green, white and blue.
    const { w, h, rgba } = thumbHashToRGBA(Buffer.from(String(thumbHash), 'base64'))
    const shown = decodeBlurHash(String(blurHash), w, h)
    for (const [kind, pixels] of Object.entries({ rgba, shown })) {
      const at = (x: number, y: number) => [...pixels.subarray((y * w + x) * 4, (y * w + x) * 4 + 3)]
      const strong = (x: number, y: number) => at(x, y).map((part) => part > 140)
      expect(strong(2, 2), kind).to.deep.equal([true, false, false])
      expect(strong(w - 3, 2), kind).to.deep.equal([false, true, false])
      expect(strong(w - 3, h - 3), kind).to.deep.equal([false, false, true])
      expect(strong(2, h - 3), kind).to.deep.equal([true, true, true])
    }
    const [head, bytes = ''] = String(lqip).split(',')
    expect(head).to.equal('data:image/webp;base64')
    const tiny = await sharp(Buffer.from(bytes, 'base64')).metadata()
    expect(tiny).to.include({ format: 'webp', width: 16, height: 12 })
    expect(String(lqip).length).to.be.below(400)
  })

  it('returns placeholders in the colours of the image', async () => {
    for (const format of ['jpeg', 'webp', 'avif', 'tiff', 'gif'] as const) {
      const bytes = await sharp({ create: { width: 300, height: 90, channels: 3, background: '#c86432' } })
        .toFormat(format)
        .toBuffer()
      const { thumbHash, blurHash, dominantColor, lqip } = await told(await upload('a', bytes))
      const tiny = sharp(Buffer.from(String(lqip).split(',')[1] ?? '', 'base64'))
      const placeholder = (await tiny.stats()).channels.map(({ mean }) => mean)
      const { r, g, b, a } = thumbHashToAverageRGBA(Buffer.from(String(thumbHash), 'base64'))
      const shown = decodeBlurHash(String(blurHash), 1, 1)
      const dominant = [1, 3, 5].map((at) => Number.parseInt(String(dominantColor).slice(at, at + 2), 16))
      for (const colour of [[r * 255, g * 255, b * 255], [...shown.subarray(0, 3)], dominant, placeholder]) {
        for (const [i, part] of [0xc8, 0x64, 0x32].entries())
          expect(colour[i], `${format} ${colour}`).to.be.closeTo(part, 14)
      }
      expect(a).to.equal(1)
    }
  })

  it('returns transparency, and ignores the colour of invisible pixels', async () => {
    const half = { width: 40, height: 80, channels: 4 as const }
    const bytes = await sharp({ create: { ...half, width: 100, background: '#00ff0000' } })
      .composite([{ input: { create: { ...half, background: '#123456' } }, left: 0, top: 0 }])
      .png()
      .toBuffer()
    const { hasAlpha, dominantColor, thumbHash, blurHash } = await told(await upload('a.png', bytes))
    expect({ hasAlpha, dominantColor }).to.deep.equal({ hasAlpha: true, dominantColor: '#123456' })
    expect(thumbHashToAverageRGBA(Buffer.from(String(thumbHash), 'base64')).a).to.be.closeTo(0.4, 0.1)
    const [r = 0, g = 0, b = 0] = decodeBlurHash(String(blurHash), 10, 1).subarray(36, 39)
    expect(Math.min(r, g, b), 'white beneath').to.be.above(180)

    const nothing = await sharp({ create: { ...half, background: '#00000000' } })
      .png()
      .toBuffer()
    expect(await told(await upload('a.png', nothing))).to.not.have.property('dominantColor')
  })

  it('returns the size of an upright image', async () => {
    for (let orientation = 1; orientation <= 8; orientation += 1) {
      const bytes = await picture({ width: 60, height: 40, format: 'jpeg', orientation })
      const { width, height, thumbHash } = await told(await upload('a.jpg', bytes))
      const size = orientation > 4 ? { width: 40, height: 60 } : { width: 60, height: 40 }
      expect({ width, height }, `orientation ${orientation}`).to.deep.equal(size)
      const { w, h } = thumbHashToRGBA(Buffer.from(String(thumbHash), 'base64'))
      expect(w > h).to.equal(size.width > size.height)
    }
  })

  it('counts frames and pages, and knows other colour spaces', async () => {
    const gif = await told(await upload('a.gif', await animation()))
    expect(gif).to.include({ width: 40, height: 30, pages: 3, dominantColor: '#ff0000' })
    const webp = await told(await upload('a.webp', await animation({ format: 'webp' })))
    expect(webp).to.include({ width: 40, height: 30, pages: 3 })
    const cmyk = await sharp(await picture())
      .toColourspace('cmyk')
      .jpeg()
      .toBuffer()
    expect(await told(await upload('a.jpg', cmyk))).to.include({ colorSpace: 'cmyk' })
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20"/></svg>'
    const drawn = await told(await upload('a.svg', svg))
    expect(drawn).to.include({ format: 'svg', width: 30, height: 20, dominantColor: '#000000' })
    const dot = await picture({ width: 1, height: 1 })
    expect(await told(await upload('a.png', dot))).to.include({ width: 1, height: 1 })
  })

  it('returns camera data, and the GPS location only on request', async () => {
    for (const format of ['jpeg', 'webp', 'png', 'avif'] as const) {
      const record = await upload('a', (await photograph({ format })).bytes)
      for (const query of ['', '?location=0', '?utm_source=x&v=2']) {
        const { exif, ...rest } = await told(record, query)
        expect(exif, format).to.include({ Make: 'Sluice', Model: 'Gate 1', FNumber: 2.8 })
        expect(rest).to.not.have.property('location')
        expect(JSON.stringify({ exif, rest })).to.not.match(/GPS|-33|151\.2/)
      }
      for (const query of ['?location=1', '?location']) {
        const { location } = await told(record, query)
        expect(location).to.deep.equal({ latitude: -33.8567844, longitude: 151.2152967, altitude: 12.5 })
      }
    }
  })

  it('accepts a broken EXIF block', async () => {
    const { bytes } = await photograph()
    const at = bytes.indexOf('Exif\0\0') + 10
    bytes.fill(0xff, at, at + 60)
    expect(await told(await upload('a.jpg', bytes))).to.include({ width: 400, height: 300 })
  })

  it('returns the delivery data of files that are not images', async () => {
    // The facts about the picture of a text: a page at 150 dpi.
    const picture = { width: 1240, height: 1754, pages: 1 }
    const files = [
      { name: 'a.txt', bytes: 'some text', more: { encoding: 'utf-8', lines: 1, ...picture } },
      { name: 'a.bin', bytes: Uint8Array.of(1, 2, 3, 0xff), more: {} },
    ]
    for (const { name, bytes, more } of files) {
      const record = await upload(name, bytes)
      const { sha256, uploadedAt, ...rest } = await told(record)
      const { headers } = await exchange(service, record.src)
      expect(rest).to.deep.equal({
        sourceName: record.sourceName,
        originalName: name,
        mimeType: record.mimeType,
        format: record.format,
        mediaType: headers['content-type'],
        size: record.size,
        ...more,
      })
    }
  })

  it('returns the problem of a broken image', async () => {
    const png = await picture()
    const corrupt = corrupted(png)
    const broken = await told(await upload('a.png', corrupt))
    expect(broken).to.include({ format: 'png', size: png.length, width: 400, height: 300 })
    expect(broken.problem).to.have.property('code', 'not_transformable')
    expect(broken).to.not.have.any.keys('thumbHash', 'blurHash', 'dominantColor')

    const { headers } = await exchange(service, infoOf(await upload('a.png', corrupt)))
    expect(headers['cache-control']).to.equal('public, max-age=60')

    const headless = await told(await upload('a.png', Buffer.concat([png.subarray(0, 16), Buffer.alloc(50)])))
    expect(headless).to.include({ format: 'png', size: 66 })
    expect(headless).to.not.have.any.keys('width', 'height', 'thumbHash')
    expect(headless.problem).to.have.property('code', 'not_transformable')
  })

  it('returns the size of an image that is too large to transform', async () => {
    const small = await start({ env: { IMAGE_MAX_PIXELS: '100000' } })
    for (const format of ['png', 'webp'] as const) {
      const bytes = await picture({ format })
      const large = jsonOf(await exchange(small, infoOf(await uploadOne(small, { name: 'a', bytes }))))
      expect(large).to.include({ width: 400, height: 300, pages: 1 })
      expect(large.problem).to.have.property('code', 'not_transformable')
      expect(large).to.not.have.property('thumbHash')
    }
  })

  it('reads the image once for concurrent requests', async () => {
    const record = await upload('a.png', await picture())
    const before = watched.opened
    watched.hold()
    const answers = Array.from({ length: 10 }, () => told(record))
    watched.release()
    const [first, ...others] = await Promise.all(answers)
    for (const other of others) expect(other).to.deep.equal(first)
    await settled(service)
    expect(await told(record, '?location')).to.deep.equal(first)
    expect(watched.opened - before).to.equal(1)
  })

  it('stores its result next to the original, deletes both together, and serves no file of it', async () => {
    const record = await upload('a.jpg', (await photograph()).bytes)
    await told(record)
    await settled(service)
    const objects = async () =>
      (await service.objects()).filter(
        (name) => name.includes(record.sourceName) && !name.includes('.sluice'),
      )
    const key = `first/${record.s3PathOriginal}`
    expect(await objects()).to.deep.equal([key, `${key}_info`])

    const src = record.src.replace(record.sourceName, `${record.s3PathOriginal}_info`)
    for (const path of [src, `${src}?download`, rawPath(service, `${record.s3PathOriginal}_info`)])
      expect((await exchange(service, path)).status, path).to.equal(404)

    expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    expect(await objects()).to.deep.equal([])
    expect((await exchange(service, infoOf(record))).status).to.equal(404)
  })

  it('accepts the full key, and folders', async () => {
    const record = await upload('a.png', await picture(), { path: 'a/b c' })
    const base = `${service.url}/v1/image/info/${service.tokens.clientToken}`
    for (const path of [record.s3PathOriginal, `a/b c/${record.sourceName}`]) {
      const answer = await exchange(service, `${base}/${path.split('/').map(encodeURIComponent).join('/')}`)
      expect(jsonOf(answer), path).to.include({ sourceName: record.sourceName, width: 400 })
    }
  })

  itLong('inspects formats whose decode may hang in a child process', async () => {
    // With no engine of a test's own: those that are apart have not got it.
    const plain = await start()
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20"/></svg>'
    const tiff = await picture({ format: 'tiff' })
    for (const [name, bytes] of Object.entries({ 'a.svg': svg, 'a.tif': tiff })) {
      const record = await uploadOne(plain, { name, bytes })
      const answer = await exchange(plain, infoOf(record))
      expect(answer.status, answer.body.toString()).to.equal(200)
      expect(jsonOf(answer), name).to.include.keys('width', 'thumbHash', 'blurHash', 'dominantColor')
    }
  })

  itLong('works for a file at its variant limit', async () => {
    const strict = await start({ env: { VARIANT_LIMIT: '1' } })
    const record = await uploadOne(strict, { name: 'a.png', bytes: await picture() })
    expect((await exchange(strict, `${record.src}?w=10`)).status).to.equal(200)
    expect((await exchange(strict, `${record.src}?w=20`)).status).to.equal(200)
    const answer = await exchange(strict, infoOf(record))
    expect(jsonOf(answer), answer.body.toString()).to.include({ width: 400 }).and.not.have.property('problem')
  })

  describe('GET /v1/image/info responds 404 or 400 as delivery does', () => {
    const cases: Record<string, [status: number, path: (record: WireRecord) => string]> = {
      'for a missing file': [404, (record) => infoOf(record).replace(/[^/]+$/, '7uLqZ3r9Vb2kXyN4sW8tQp.png')],
      'for another media group': [404, (record) => infoOf(record).replace('/image/', '/video/')],
      'for another media group, at its full key': [
        404,
        (record) =>
          infoOf(record)
            .replace('/image/', '/text/')
            .replace(/[^/]+$/, record.s3PathOriginal),
      ],
      'for an unknown media group': [404, (record) => infoOf(record).replace('/image/', '/picture/')],
      'for an unknown client': [
        404,
        (record) => infoOf(record).replace(service.tokens.clientToken, 'pub_nobody'),
      ],
      'with a path out of its root': [400, (record) => infoOf(record).replace(/[^/]+$/, '..%2Fa.png')],
      'with an unknown parameter': [400, (record) => `${infoOf(record)}?locations=1`],
      'with a transformation': [400, (record) => `${infoOf(record)}?w=100`],
      'with an invalid location': [400, (record) => `${infoOf(record)}?location=yes`],
      'with two locations': [400, (record) => `${infoOf(record)}?location=1&location=0`],
      'for a derivative': [
        400,
        (record) => infoOf(record).replace(/[^/]+$/, `${record.s3PathOriginal}_w=100`),
      ],
    }
    let record: WireRecord
    before(async () => {
      record = await upload('a.png', await picture())
    })
    for (const [what, [status, path]] of Object.entries(cases)) {
      it(what, async () => {
        const answer = await exchange(service, path(record))
        expect(answer.status).to.equal(status)
        expect(answer.headers).to.include({
          'content-type': 'application/problem+json',
          'cache-control': 'no-store',
        })
      })
    }

    it('for a file of another client', async () => {
      const other = await newClient(service)
      const path = infoOf(record).replace(service.tokens.clientToken, other.tokens.clientToken)
      expect((await exchange(service, path)).status).to.equal(404)
    })

    it('for a file without bytes in the bucket', async () => {
      const text = await upload('a.txt', 'some text')
      const bucket = service.storage.buckets.of({ id: 'first', token: '' })
      await bucket.delete([text.s3PathOriginal as never])
      expect((await exchange(service, infoOf(text))).status).to.equal(404)
    })

    it('with a suggestion for a misspelled parameter', async () => {
      const answer = await exchange(service, `${infoOf(record)}?locatoin=1`)
      expect(jsonOf(answer)).to.include({ param: 'locatoin', nearest: 'location' })
      expect(jsonOf(answer).detail).to.match(/did you mean "location"/)
    })
  })

  it('supports HEAD, conditional requests, OPTIONS and CORS as delivery does', async () => {
    const record = await upload('a.png', await picture())
    const path = infoOf(record)
    const get = await exchange(service, path)
    expect(get.headers).to.include({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=604800',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    })
    expect(get.headers).to.not.have.any.keys('content-range', 'vary')
    const etag = String(get.headers.etag)
    expect(etag).to.match(/^"[0-9a-f]{32}"$/)

    const head = await exchange(service, path, { method: 'HEAD' })
    const lengths = (answer: Answer) => [answer.headers['content-length'], answer.headers.etag]
    expect({ status: head.status, body: head.body.length }).to.deep.equal({ status: 200, body: 0 })
    expect(lengths(head)).to.deep.equal(lengths(get))

    const known = await exchange(service, path, { headers: { 'If-None-Match': etag } })
    expect({ status: known.status, body: known.body.length }).to.deep.equal({ status: 304, body: 0 })
    const photo = infoOf(await upload('a.jpg', (await photograph()).bytes))
    const tags = await Promise.all([photo, `${photo}?location`].map((each) => exchange(service, each)))
    expect(new Set(tags.map(({ headers }) => headers.etag)).size).to.equal(2)

    expect((await exchange(service, path, { method: 'OPTIONS' })).status).to.equal(204)
    const post = await exchange(service, path, { method: 'POST' })
    expect({ status: post.status, allow: post.headers.allow }).to.deep.equal({
      status: 405,
      allow: 'GET, HEAD, OPTIONS',
    })
  })
})
