import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneBackend('delivery by path and parameters', (start) => {
  let service: Service
  let plain: WireRecord
  let inFolder: WireRecord
  let text: WireRecord
  before(async () => {
    service = await start()
    const bytes = await picture()
    plain = await uploadOne(service, { name: 'a.png', bytes })
    inFolder = await uploadOne(service, { name: 'a.png', bytes }, { path: 'a/b' })
    text = await uploadOne(service, { name: 'a.txt', bytes: 'text' })
  })

  const served = (group: string, path: string, query = '') =>
    exchange(service, `/v1/${group}/upload/${service.tokens.clientToken}/${path}${query}`)

  it('finds a file by its full key, by its name, and by folder and name', async () => {
    for (const [path, record] of [
      [plain.s3PathOriginal, plain],
      [plain.sourceName, plain],
      [inFolder.s3PathOriginal, inFolder],
      [`a/b/${inFolder.sourceName}`, inFolder],
      [encodeURIComponent(inFolder.s3PathOriginal), inFolder],
      [inFolder.s3PathOriginal.replace('image', '%69m%61ge'), inFolder],
    ] as const) {
      const { status, headers } = await served('image', path)
      expect({ status, etag: headers.etag }, path).to.deep.equal({
        status: 200,
        etag: `"${record.s3PathOriginal}"`,
      })
    }
  })

  it('does not find a file by any other path', async () => {
    const { sourceName } = plain
    const [id = ''] = sourceName.split('.')
    for (const path of [
      inFolder.sourceName,
      `a/${inFolder.sourceName}`,
      `b/a/${inFolder.sourceName}`,
      `A/B/${inFolder.sourceName}`,
      `a/b/${sourceName}`,
      `image/jpeg/${sourceName}`,
      `image/jpeg/${id}.jpg`,
      `text/png/${sourceName}`,
      `image/${sourceName}`,
      `png/${sourceName}`,
      `${id}.jpg`,
      id,
      `${sourceName}.png`,
      `${sourceName} `,
      sourceName.toUpperCase(),
      `image/png/${sourceName}_w=77`,
      `image/png/${sourceName}_`,
      `image/png/${sourceName}/x`,
      'nothing.png',
      'a/b',
      'image/png',
      '%F0%9F%99%82',
    ]) {
      const answer = await served('image', path.replaceAll(' ', '%20'))
      expect({ status: answer.status, code: jsonOf(answer).code }, path).to.deep.equal({
        status: 404,
        code: 'file_not_found',
      })
    }
  })

  it('does not find a file under another media group', async () => {
    for (const group of ['video', 'audio', 'text', 'application']) {
      for (const path of [plain.sourceName, plain.s3PathOriginal, encodeURIComponent(plain.s3PathOriginal)])
        expect((await served(group, path)).status, `${group} ${path}`).to.equal(404)
    }
    expect((await served('image', text.sourceName)).status).to.equal(404)
    expect((await served('text', text.sourceName)).status).to.equal(200)
  })

  it('responds 404 to unknown groups, versions and spellings of the route', async () => {
    const { clientToken } = service.tokens
    for (const address of [
      `/v1/font/upload/${clientToken}/${plain.sourceName}`,
      `/v1/IMAGE/upload/${clientToken}/${plain.sourceName}`,
      `/v1/image/UPLOAD/${clientToken}/${plain.sourceName}`,
      `/V1/image/upload/${clientToken}/${plain.sourceName}`,
      `/v2/image/upload/${clientToken}/${plain.sourceName}`,
      `/image/upload/${clientToken}/${plain.sourceName}`,
      `//v1/image/upload/${clientToken}/${plain.sourceName}`,
      `/v1/image/upload/${clientToken}`,
      `/v1/image/upload/${clientToken}/`,
      `/v1/constructor/upload/${clientToken}/${plain.sourceName}`,
      '/v1',
      '/v1/',
    ]) {
      const answer = await exchange(service, address)
      expect({ status: answer.status, code: jsonOf(answer).code }, address).to.deep.equal({
        status: 404,
        code: 'route_not_found',
      })
    }
  })

  it('accepts only full keys on the raw route', async () => {
    const raw = (path: string) => exchange(service, `/v1/bucket/${service.tokens.clientToken}/${path}`)
    expect((await raw(plain.s3PathOriginal)).status).to.equal(200)
    for (const path of [
      plain.sourceName,
      `a/b/${inFolder.sourceName}`,
      'image/png',
      `${plain.s3PathOriginal}_w=3`,
    ])
      expect((await raw(path)).status, path).to.equal(404)
  })

  it('refuses parameters on the raw route, and names the URL that accepts them', async () => {
    const { src } = plain
    const direct = rawPath(service, plain.s3PathOriginal)
    for (const address of [`${direct}?w=100`, `${direct}?utm_source=x&w=100&f=webp`]) {
      const answer = await exchange(service, address)
      expect(jsonOf(answer)).to.include({ status: 400, code: 'bad_parameter', param: 'w', received: '100' })
      expect(jsonOf(answer).detail).to.include(`"w"; transform at ${src}`)
      expect((await exchange(service, address, { method: 'HEAD' })).status).to.equal(400)
    }
    const { detail } = jsonOf(await exchange(service, `${rawPath(service, inFolder.s3PathOriginal)}?negate`))
    expect(detail).to.include(`"negate"; transform at ${inFolder.src}`)
    expect((await exchange(service, `${src}?w=7`)).status).to.equal(200)
    await eventually(async () => {
      const derivative = jsonOf(await exchange(service, `${direct}_w%3D7?h=5`))
      expect(derivative.detail).to.include(`transform at ${src}`)
    })
    const missing = await exchange(service, `${direct.replace('/image/png/', '/image/webp/')}?w=100`)
    expect(missing.status).to.equal(404)
  })

  it('ignores tracking parameters on the raw route, including those that the operator has added', async () => {
    const direct = rawPath(service, plain.s3PathOriginal)
    for (const query of ['?download', '?download=a.png', '?utm_source=mail&v=2', '?'])
      expect((await exchange(service, `${direct}${query}`)).status, query).to.equal(200)
    expect((await exchange(service, `${direct}?ref=x`)).status).to.equal(400)

    const root = await temporaryFolder()
    await mkdir(join(root, 'config'))
    await writeFile(join(root, 'config', 'chain.json'), '{"ignoredParams": ["ref"]}')
    const other = await start({ root })
    const { s3PathOriginal } = await uploadOne(other, { name: 'a.txt', bytes: 'text' })
    expect((await exchange(other, `${rawPath(other, s3PathOriginal)}?ref=x`)).status).to.equal(200)
    await rm(root, { recursive: true })
  })

  const refused: Array<[query: string, problem: Record<string, unknown>]> = [
    ['?wdith=100', { code: 'unknown_parameter', param: 'wdith', nearest: 'width' }],
    ['?hieght=100', { code: 'unknown_parameter', param: 'hieght', nearest: 'height' }],
    ['?formt=webp', { code: 'unknown_parameter', param: 'formt', nearest: 'format' }],
    ['?W=100', { code: 'unknown_parameter', param: 'W', nearest: 'w' }],
    ['?nonsense=1', { code: 'unknown_parameter', param: 'nonsense', nearest: undefined }],
    ['?=1', { code: 'unknown_parameter', param: '' }],
    ['?w[]=1', { code: 'unknown_parameter', param: 'w[]' }],
    ['?utm=1', { code: 'unknown_parameter', param: 'utm' }],
    [
      '?w=abc',
      {
        code: 'bad_parameter',
        param: 'w',
        expected: 'an integer from 1 to 5000 px or auto',
        received: 'abc',
      },
    ],
    ['?width=0', { code: 'bad_parameter', param: 'width', received: '0' }],
    ['?w=5001', { code: 'bad_parameter', param: 'w', received: '5001' }],
    ['?w=', { code: 'bad_parameter', param: 'w', received: '' }],
    ['?w=-1', { code: 'bad_parameter', param: 'w', received: '-1' }],
    ['?w=1.5', { code: 'bad_parameter', param: 'w', received: '1.5' }],
    ['?w=1e3', { code: 'bad_parameter', param: 'w', received: '1e3' }],
    ['?w=0x10', { code: 'bad_parameter', param: 'w', received: '0x10' }],
    ['?w=%00', { code: 'bad_parameter', param: 'w', received: '\0' }],
    ['?w=99999999999999999999', { code: 'bad_parameter', param: 'w' }],
    ['?w=1&w=1', { code: 'bad_parameter', param: 'w', expected: 'one value' }],
    ['?w=1&width=2', { code: 'bad_parameter', param: 'width', expected: 'one value' }],
    ['?f=bmp', { code: 'bad_parameter', param: 'f', received: 'bmp' }],
    ['?f=constructor', { code: 'bad_parameter', param: 'f', received: 'constructor' }],
    ['?fit=__proto__', { code: 'bad_parameter', param: 'fit', received: '__proto__' }],
    ['?q=101', { code: 'bad_parameter', param: 'q', expected: 'an integer from 1 to 100' }],
    ['?w=5000&h=10&dpr=3', { code: 'bad_parameter', param: 'dpr' }],
    ['?w=100&nonsense=1', { code: 'unknown_parameter', param: 'nonsense' }],
  ]
  for (const [query, expected] of refused) {
    it(`responds 400 to ${query}`, async () => {
      const answer = await served('image', plain.sourceName, query)
      const problem = jsonOf(answer)
      expect(answer.status).to.equal(400)
      for (const [name, value] of Object.entries(expected)) expect(problem[name], name).to.equal(value)
    })
  }

  it('suggests the intended parameter in the message', async () => {
    const { detail } = jsonOf(await served('image', plain.sourceName, '?wdith=100'))
    expect(detail).to.equal('there is no parameter "wdith" for image files; did you mean "width"?')
  })

  it('refuses image parameters for files of other groups', async () => {
    const font = await uploadOne(service, { name: 'a.woff2', bytes: Buffer.from('wOF2\0\x01\0\0', 'latin1') })
    const answer = await served('application', font.sourceName, '?w=100')
    expect({ status: answer.status, code: jsonOf(answer).code }).to.deep.equal({
      status: 422,
      code: 'not_transformable',
    })
  })

  it('responds 404 to a missing file before it checks the parameters', async () => {
    expect((await served('image', 'nothing.png', '?nonsense=1')).status).to.equal(404)
  })

  it('responds 422 to a transformation of a broken image, and 200 to its original', async () => {
    const fake = await uploadOne(service, {
      name: 'a.png',
      bytes: Buffer.concat([(await picture()).subarray(0, 60), Buffer.alloc(500)]),
    })
    expect(fake.format).to.equal('png')
    expect((await exchange(service, fake.src)).status).to.equal(200)
    const answer = await exchange(service, `${fake.src}?w=100`)
    expect({ status: answer.status, code: jsonOf(answer).code }).to.deep.equal({
      status: 422,
      code: 'not_transformable',
    })
    // libvips's own words are for the log.
    expect(jsonOf(answer).detail).to.equal('expected an image that can be decoded but this one cannot')
  })
})
