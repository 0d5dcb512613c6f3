import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, newClient, postFiles } from '../../support/requests/client.ts'
import { patch, tus } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('upload rules of a client', (start) => {
  let service: Service
  let client: Caller & { id: string }
  before(async () => {
    service = await start()
  })
  beforeEach(async () => {
    client = await newClient(service)
  })

  const rules = (changes: object) => service.app.clients.setRules(client.id, changes)
  const image = (width: number, height: number, format: 'png' | 'jpeg' | 'webp' = 'png') =>
    sharp({ create: { width, height, channels: 3, background: '#369' } })
      .toFormat(format)
      .toBuffer()
  /** The status and the code of an upload; a refused one must leave no object. */
  async function upload(name: string, bytes: Uint8Array | string): Promise<string> {
    const before = await service.objects()
    const response = await postFiles(client, [{ name, bytes }])
    const { code = '' } = (await response.json()) as { code?: string }
    if (response.status !== 200) expect(await service.objects()).to.deep.equal(before)
    return `${response.status} ${code}`.trim()
  }

  it('allow only the listed types, by the bytes and not by the name', async () => {
    await rules({ uploadTypes: ['image/png', 'text/*'] })
    expect(await upload('a.png', await image(4, 4))).to.equal('200')
    expect(await upload('a.txt', 'some text')).to.equal('200')
    expect(await upload('a.png', await image(4, 4, 'jpeg'))).to.equal('415 type_not_allowed')
    const refused = await postFiles(client, [{ name: 'a.webp', bytes: await image(4, 4, 'webp') }])
    expect(await refused.json()).to.include({ expected: 'image/png, text/*', received: 'image/webp' })
    await rules({ uploadTypes: false })
    expect(await upload('a.webp', await image(4, 4, 'webp'))).to.equal('200')
  })

  it('store no file of a form when one of them is refused', async () => {
    await rules({ uploadTypes: ['image/*'] })
    const before = await service.objects()
    const files = [
      { name: 'a.png', bytes: await image(4, 4) },
      { name: 'b.txt', bytes: 'some text' },
    ]
    expect((await postFiles(client, files)).status).to.equal(415)
    expect(await service.objects()).to.deep.equal(before)
  })

  it('apply to signed links and resumable uploads too', async () => {
    await rules({ uploadTypes: ['text/*'] })
    const json = { expiresIn: 60, types: ['image/*', 'text/*'], uses: 2 }
    const { url } = (await ask(client, '/v1/sign', { method: 'POST', json })).body as { url: string }
    const put = async (body: Uint8Array<ArrayBuffer> | string) =>
      (await fetch(url, { method: 'PUT', body })).status
    expect(await put(new Uint8Array(await image(4, 4)))).to.equal(415)
    expect(await put('some text')).to.equal(200)
    const bytes = await image(4, 4)
    const headers = { 'Upload-Length': String(bytes.length) }
    const address = String((await tus(client, '/v1/tus', { method: 'POST', headers })).headers.location)
    expect((await patch(client, address, { offset: 0, body: bytes })).status).to.equal(415)
  })

  it('limit the pixels of images, both bounds inclusive, and of no other files', async () => {
    await rules({ uploadMinPixels: 100, uploadMaxPixels: 400 })
    for (const [width, height, expected] of [
      [10, 10, '200'],
      [20, 20, '200'],
      [9, 11, '422 image_size_not_allowed'],
      [401, 1, '422 image_size_not_allowed'],
    ] as const)
      expect(await upload('a.png', await image(width, height)), `${width} x ${height}`).to.equal(expected)
    expect(await upload('a.txt', 'some text')).to.equal('200')
    const refused = await postFiles(client, [{ name: 'a.png', bytes: await image(30, 20) }])
    expect(await refused.json()).to.include({
      detail: 'expected an image of 100 to 400 pixels for this client but it has 30 x 20',
      width: 30,
      height: 20,
    })
  })

  it('refuse an image whose size cannot be read when its pixels are limited', async () => {
    const header = Buffer.concat([(await image(50, 50)).subarray(0, 20)])
    expect(await upload('a.png', header)).to.equal('200')
    await rules({ uploadMaxPixels: 400 })
    expect(await upload('a.png', header)).to.equal('422 image_size_not_allowed')
  })

  it('refuse unknown types and invalid numbers', async () => {
    for (const [changes, param] of [
      [{ uploadTypes: ['image/unknown'] }, 'uploadTypes[0]'],
      [{ uploadTypes: [] }, 'uploadTypes'],
      [{ uploadMinPixels: 0 }, 'uploadMinPixels'],
    ] as const) {
      const error = await rules(changes).catch((problem) => problem)
      expect(error.members?.param ?? error.message).to.equal(param)
    }
  })
})
