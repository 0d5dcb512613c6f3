import { Readable } from 'node:stream'
import { expect } from 'chai'
import sharp from 'sharp'
// @ts-expect-error: the scripts have no types
import { planesOf, ssim } from '../../../scripts/bench/encoders/ssim.js'
import { readAll } from '../../../src/core/bytes/asset.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { deleteFile, rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { settled } from '../../support/stored/settled.ts'

const CLIENT = { id: 'first', token: '' }

/** Coarse noise of 1.2 megapixels, just enough for a proxy: the same in each run. */
async function photo(): Promise<Buffer> {
  const raw = { width: 50, height: 34, channels: 3 as const }
  const pixels = Buffer.alloc(raw.width * raw.height * raw.channels)
  // The generator of numbers of POSIX's rand().
  let state = 1
  for (let i = 0; i < pixels.length; i += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    pixels[i] = 40 + ((state >>> 16) % 176)
  }
  return sharp(pixels, { raw }).resize(1350, 900, { kernel: 'cubic' }).png({ compressionLevel: 1 }).toBuffer()
}

async function similarity(one: Buffer, other: Buffer): Promise<number> {
  const { width, height } = await sharp(one).metadata()
  return ssim(await planesOf(one), await planesOf(other), { width, height })
}

onOneBackend('proxies of large images', (start) => {
  let service: Service
  let record: WireRecord
  let path: string
  let source: Buffer
  before(async () => {
    service = await start({ env: { PROXY_FROM_MEGAPIXELS: '1' } })
    source = await photo()
  })
  /** Uploads a photo, and renders derivatives of it until it has a proxy. */
  async function prepare(): Promise<void> {
    record = await uploadOne(service, { name: 'a.png', bytes: source })
    path = new URL(record.src).pathname
    // The third time, for the largest of these outputs.
    for (const width of [200, 600, 201])
      expect((await exchange(service, `${path}?w=${width}`)).status).to.equal(200)
    await eventually(async () =>
      expect(await derivatives()).to.include(`${record.s3PathOriginal}_proxy stored`),
    )
  }

  async function derivatives(): Promise<string[]> {
    const key = storedKey(record.s3PathOriginal)
    const file = await service.storage.index.look({ clientId: CLIENT.id, key })
    return file?.derivatives.map(({ key, entry }) => `${key} ${entry.state}`) ?? []
  }

  /** Replaces the bytes of the original, so that nothing can be rendered from it. */
  async function breakOriginal(): Promise<void> {
    const bytes = Buffer.alloc(record.size, 'no image ')
    const bucket = service.storage.buckets.of(CLIENT)
    await bucket.put(storedKey(record.s3PathOriginal), Readable.from([bytes]), { mediaType: 'image/png' })
  }

  it('render smaller derivatives, which look as from the original', async () => {
    await prepare()
    const direct = await startService({ env: { PROXY_FROM_MEGAPIXELS: '0' } })
    try {
      const same = new URL((await uploadOne(direct, { name: 'a.png', bytes: source })).src).pathname
      await breakOriginal()
      const others = ['w=550&f=webp', 'w=300', 'w=500&greyscale', 'w=600&f=jpeg&q=85']
      for (const query of ['w=400&h=300&f=jpeg', 'h=99&text=a&f=png', ...sized([], others)]) {
        const answer = await exchange(service, `${path}?${query}`)
        expect(answer.status, query).to.equal(200)
        const expected = await exchange(direct, `${same}?${query}`)
        expect(answer.headers['content-type'], query).to.equal(expected.headers['content-type'])
        expect((await sharp(answer.body).metadata()).width, query).to.equal(
          (await sharp(expected.body).metadata()).width,
        )
        // Two encodings with loss differ more than the pixels do, most of all on noise.
        const least = /f=(webp|jpeg)/.test(query) ? 0.97 : 0.985
        expect(await similarity(answer.body, expected.body), query).to.be.above(least)
      }
    } finally {
      await direct.stop()
    }
  })

  it('are stored when they would have been useful for the third time, the smallest one that suffices', async () => {
    const other = await uploadOne(service, { name: 'b.png', bytes: source })
    const request = (query: string) => exchange(service, `${new URL(other.src).pathname}?${query}`)
    const proxies = async () =>
      (await service.objects()).filter((name) => name.includes(`${other.sourceName}_proxy`))
    // An output of more than half the size of a proxy, and one of pixels of the source, cannot use one.
    for (const query of ['w=200', 'w=300', 'w=1000', 'w=300&crop=0,0,500,500']) await request(query)
    await settled(service)
    expect(await proxies()).to.deep.equal([])
    await request('w=201')
    await eventually(async () =>
      expect(await proxies()).to.deep.equal([`first/${other.s3PathOriginal}_proxy-720`]),
    )
  })

  itLong('are stored in smaller sizes too, when these have been useful for the third time', async () => {
    await prepare()
    const small = `${record.s3PathOriginal}_proxy-720`
    const sizes = async () => (await derivatives()).filter((name) => name.includes('_proxy-'))
    expect(await sizes()).to.deep.equal([])
    await exchange(service, `${path}?w=202`)
    await eventually(async () => expect(await sizes()).to.deep.equal([`${small} stored`]))
    const bucket = service.storage.buckets.of(CLIENT)
    const proxy = await bucket.find(storedKey(small))
    if (!proxy) throw new Error('expected the bytes of the proxy')
    const { width, height, format } = await sharp(await readAll(proxy)).metadata()
    expect({ width, height, format }).to.deep.equal({ width: 720, height: 480, format: 'jpeg' })
    // The smallest one that is large enough is used: the others are broken.
    await breakOriginal()
    const large = storedKey(`${record.s3PathOriginal}_proxy`)
    const { size = 0 } = (await bucket.find(large)) ?? {}
    await bucket.put(large, Readable.from([Buffer.alloc(size, 'no image ')]), { mediaType: 'image/jpeg' })
    const answer = await exchange(service, `${path}?w=350&f=png`)
    const expected = await sharp(source).resize(350).png().toBuffer()
    expect(await similarity(answer.body, expected)).to.be.above(0.985)
    expect((await exchange(service, `${path}?w=362&f=png`)).status).to.equal(422)
  })

  it('are not used where something would be lost', async () => {
    await prepare()
    await breakOriginal()
    for (const query of everyNth(2, [
      'w=300&lossless&f=webp',
      'w=300&icc=keep',
      'w=300&crop=0,0,500,500',
      'w=300&zoom=3',
      'w=300&blur_region=0,0,1,1',
      'w=1300',
      'w=300&q=95&f=jpeg',
    ])) {
      const answer = await exchange(service, `${path}?${query}`)
      expect([answer.status, jsonOf(answer).code], query).to.deep.equal([422, 'not_transformable'])
    }
  })

  it('are not listed, not counted, and not delivered by their name', async () => {
    await prepare()
    const secret = { Authorization: service.tokens.secretClientToken }
    const listed = await exchange(service, `/v1/files/${record.s3PathOriginal}`, { headers: secret })
    expect(listed.body.toString()).to.include('_w=200').and.not.include('_proxy')
    for (const target of [`${path}_proxy`, rawPath(service, `${record.s3PathOriginal}_proxy`)])
      expect((await exchange(service, target)).status, target).to.equal(404)
  })

  it('are deleted with their original', async () => {
    await prepare()
    await exchange(service, `${path}?w=202`)
    await eventually(async () => expect((await derivatives()).join()).to.include('_proxy-720 stored'))
    await deleteFile(service, record.s3PathOriginal)
    await settled(service)
    const left = (await service.objects()).filter((name) => name.includes(record.sourceName))
    expect(left).to.deep.equal([])
  })
})

describe('PROXY_FROM_MEGAPIXELS=0', () => {
  itLong('lets the decoder shrink an original as sharp does', async () => {
    const service = await startService({ env: { PROXY_FROM_MEGAPIXELS: '0' } })
    try {
      const bytes = await sharp(await photo())
        .resize(2560, 1600, { fit: 'fill' })
        .jpeg()
        .toBuffer()
      const { src } = await uploadOne(service, { name: 'a.jpg', bytes })
      const { body } = await exchange(service, `${new URL(src).pathname}?w=216&f=png`)
      const [exact, fast] = await Promise.all(
        [false, true].map((fastShrinkOnLoad) =>
          sharp(bytes).resize(216, null, { fastShrinkOnLoad }).raw().toBuffer(),
        ),
      )
      const pixels = await sharp(body).raw().toBuffer()
      expect({ exact: exact?.equals(pixels), fast: fast?.equals(pixels) }).to.deep.equal({
        exact: false,
        fast: true,
      })
    } finally {
      await service.stop()
    }
  })

  itLong('stores no proxies', async () => {
    const service = await startService({ env: { PROXY_FROM_MEGAPIXELS: '0' } })
    try {
      const bytes = await photo()
      const { src } = await uploadOne(service, { name: 'a.png', bytes })
      expect((await exchange(service, `${new URL(src).pathname}?w=200`)).status).to.equal(200)
      await settled(service)
      expect((await service.objects()).filter((name) => name.includes('_proxy'))).to.deep.equal([])
    } finally {
      await service.stop()
    }
  })
})
