import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { corrupted, picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, newClient, postFiles } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { OFFSET_STREAM, TUS } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('rules for the content of uploads', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let png: Buffer
  before(async () => {
    service = await start()
    png = await picture()
  })
  beforeEach(async () => {
    client = await newClient(service)
  })

  const rules = (changes: object) => service.app.clients.setRules(client.id, changes)
  const image = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#369' } })
      .png()
      .toBuffer()
  const sign = (json: object) =>
    ask(client, '/v1/sign', { method: 'POST', json: { expiresIn: 60, uses: 9, ...json } })
  const linkWith = async (json: object) => ((await sign(json)).body as { url: string }).url
  const result = async (response: Response) => {
    const { code, reason, detail } = (await response.json()) as Record<string, string>
    return { status: response.status, code, reason, detail }
  }
  /** A refused upload must leave no object. */
  async function put(url: string, body: Uint8Array | string) {
    const before = await service.objects()
    const answer = await result(await fetch(url, { method: 'PUT', body: body as Uint8Array<ArrayBuffer> }))
    if (answer.status !== 200) expect(await service.objects()).to.deep.equal(before)
    return answer
  }
  const upload = async (name: string, bytes: Uint8Array | string) =>
    result(await postFiles(client, [{ name, bytes }]))

  it('of a client accept only files that can be decoded', async () => {
    const broken = corrupted(png)
    expect(await upload('a.png', broken)).to.include({ status: 200 })
    await rules({ uploadDecodable: true })
    expect(await upload('a.png', broken)).to.include({
      ...{ status: 422, code: 'file_not_decodable', reason: 'broken' },
    })
    const truncated = png.subarray(0, png.length - 40)
    expect(await upload('a.png', truncated)).to.include({ status: 422, reason: 'truncated_image' })
    for (const [name, bytes] of [
      ['a.png', png],
      ['a.txt', 'not checked'],
    ] as const)
      expect(await upload(name, bytes), name).to.include({ status: 200 })
  })

  it('refuse an image above the limits of transformations, and a video whose headers cannot be read', async () => {
    await rules({ uploadDecodable: true })
    const huge = await sharp({ create: { width: 8000, height: 7000, channels: 3, background: '#369' } })
      .png({ compressionLevel: 1 })
      .toBuffer()
    expect(await upload('a.png', huge)).to.include({ status: 422, code: 'file_not_decodable' })
    const video = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2'), Buffer.alloc(4000, 7)])
    expect(await upload('a.mp4', video)).to.include({ status: 422, code: 'file_not_decodable' })
  })

  it('of a link limit pixels, and require files that can be decoded', async () => {
    const url = await linkWith({ minPixels: 100, maxPixels: 400, decodable: true, types: ['image/*'] })
    for (const [width, height, status] of [
      [10, 10, 200],
      [20, 20, 200],
      [9, 11, 422],
      [401, 1, 422],
    ] as const)
      expect((await put(url, await image(width, height))).status, `${width} x ${height}`).to.equal(status)
    expect(await put(url, await image(30, 20))).to.include({
      code: 'image_size_not_allowed',
      detail: 'expected an image of 100 to 400 pixels for this link but it has 30 x 20',
    })
    expect(await put(await linkWith({ decodable: true }), corrupted(png))).to.include({
      code: 'file_not_decodable',
    })
    expect(await put(await linkWith({}), corrupted(png))).to.include({ status: 200 })
  })

  it('of a link apply to a resumable upload by it, which is then discarded', async () => {
    const bytes = await image(30, 20)
    const headers = { ...TUS, 'Upload-Length': String(bytes.length) }
    const path = (await linkWith({ maxPixels: 400, uses: 1 })).slice(service.url.length)
    const address = String((await exchange(service, path, { method: 'POST', headers })).headers.location)
    const sent = { ...TUS, ...OFFSET_STREAM, 'Upload-Offset': '0' }
    const refused = await exchange(service, address, { method: 'PATCH', headers: sent, body: bytes })
    expect(refused.status).to.equal(422)
    expect((await exchange(service, address, { method: 'HEAD', headers: TUS })).status).to.equal(404)
  })

  it('of a link only narrow those of the client', async () => {
    await rules({ uploadMinPixels: 100, uploadMaxPixels: 400, uploadTypes: ['image/png'] })
    const wide = await linkWith({ minPixels: 1, maxPixels: 10_000, types: ['image/*'], decodable: false })
    expect(await put(wide, await image(30, 20))).to.include({ status: 422, code: 'image_size_not_allowed' })
    expect(await put(wide, await image(9, 9))).to.include({ status: 422, code: 'image_size_not_allowed' })
    expect(await put(wide, await sharp(png).jpeg().toBuffer())).to.include({ status: 415 })
    await rules({ uploadDecodable: true, uploadMinPixels: false, uploadMaxPixels: false })
    expect(await put(wide, corrupted(await image(40, 40)))).to.include({ status: 422 })
    const narrow = await linkWith({ maxPixels: 100 })
    expect(await put(narrow, await image(20, 20))).to.include({ status: 422 })
    expect(await put(narrow, await image(10, 10))).to.include({ status: 200 })
  })

  it('of a link are a part of its signature', async () => {
    const url = await linkWith({ maxPixels: 400, decodable: true })
    for (const changed of [
      url.replace('ab4-d.', 'ab4.'),
      url.replace('.ab4-d.', '.'),
      url.replace('ab4', 'ab5'),
    ]) {
      expect(changed).not.to.equal(url)
      expect(await put(changed, await image(30, 20))).to.include({ status: 403, code: 'link_invalid' })
    }
  })

  for (const [json, param] of [
    [{ minPixels: 0 }, 'minPixels'],
    [{ maxPixels: 1.5 }, 'maxPixels'],
    [{ maxPixels: 10_000_000_001 }, 'maxPixels'],
    [{ minPixels: 5, maxPixels: 4 }, 'minPixels'],
    [{ decodable: 'yes' }, 'decodable'],
  ] as const)
    it(`of a link are refused as ${JSON.stringify(json)}`, async () => {
      const { status, body } = await sign(json)
      expect({ status, param: (body as { param: string }).param }).to.deep.equal({ status: 400, param })
    })
})
