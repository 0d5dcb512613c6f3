import { expect } from 'chai'
import sharp from 'sharp'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { putJson, snapshot } from '../../../src/core/storage/small-object.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { animation, colourAt, corrupted, picture } from '../../support/media/images.ts'
import { rawPath, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { everyNth, itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

const NOTE = 'truncated original'
const SIDE = 600

const known = new Map<string, Promise<Buffer>>()

/** A picture of noise: half of the file is half of the picture. Each is rendered once. */
async function noise(format: 'jpeg' | 'png' | 'gif', options: { progressive?: boolean } = {}) {
  const name = JSON.stringify([format, options])
  const bytes = known.get(name) ?? noisy(format, options)
  known.set(name, bytes)
  return Buffer.from(await bytes)
}

async function noisy(format: 'jpeg' | 'png' | 'gif', options: { progressive?: boolean }) {
  const { data } = await sharp({
    create: { width: SIDE, height: SIDE, channels: 3, background: '#f00' },
  })
    .composite([
      {
        input: {
          create: {
            width: SIDE,
            height: SIDE,
            channels: 3,
            background: '#fff',
            noise: { type: 'gaussian', sigma: 40 },
          },
        },
        blend: 'multiply',
      },
    ])
    .toFormat(format, options)
    .toBuffer({ resolveWithObject: true })
  return data
}

const interlaced = () => noise('png', { progressive: true })

const infoOf = (src: string) => src.replace('/upload/', '/info/')
/** What is missing has one colour: it is not what another picture has left in memory. */
async function expectOneColour(png: Buffer, top: number) {
  const { data, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const colours = new Set<number>()
  for (let at = top * info.width * 4; at < data.length; at += 4) colours.add(data.readUInt32BE(at))
  expect(colours.size).to.be.at.most(1)
}

/** Takes the marks out of the records in the bucket, as a version without them has left them. @returns how many there were */
async function withoutMarks({ storage, tokens }: Service): Promise<number> {
  const bucket = storage.buckets.of({ id: FIRST_CLIENT_ID, token: tokens.clientToken })
  let count = 0
  for await (const key of bucket.list('.sluice/meta/')) {
    const { bytes } = (await snapshot(bucket, key)) ?? {}
    const { truncated, ...value } = JSON.parse(String(bytes))
    if (truncated) count += 1
    await putJson(bucket, key, { value, signal: AbortSignal.timeout(10_000) })
  }
  return count
}

const part = (bytes: Buffer, share: number) => bytes.subarray(0, Math.round(bytes.length * share))

onOneBackend('truncated images', (start, backend) => {
  let service: Service
  before(async () => {
    service = await start()
  })
  const upload = async (bytes: Buffer, name: string) => uploadOne(service, { name, bytes })

  for (const [what, name, missing, make] of everyNth(2, [
    ['a JPEG', 'a.jpg', 70, () => noise('jpeg')],
    ['a progressive JPEG', 'b.jpg', 100, () => noise('jpeg', { progressive: true })],
    ['a PNG', 'c.png', 70, () => noise('png')],
    ['a GIF', 'd.gif', 70, () => noise('gif')],
  ] as const)) {
    it(`are rendered as far as ${what} goes, with X-Sluice-Transform on every delivery`, async () => {
      const { src } = await upload(part(await make(), 0.6), name)
      for (const when of ['first', 'stored']) {
        const { status, headers, body } = await exchange(service, `${src}?w=100&h=100&f=png`)
        expect(status, when).to.equal(200)
        expect(headers['x-sluice-transform'], when).to.equal(NOTE)
        const { r, b } = await colourAt(body, 50, 10)
        expect(r - b, 'red').to.be.above(60)
        await expectOneColour(body, missing)
      }
      const { headers: stored } = await exchange(service, `${src}?w=100&h=100&f=png`)
      // It is stored after the response.
      await eventually(async () => {
        const raw = await exchange(service, rawPath(service, String(stored.etag).slice(1, -1)))
        expect([raw.status, raw.headers['x-sluice-transform']]).to.deep.equal([200, NOTE])
      })
      expect((await exchange(service, src)).headers).to.not.have.property('x-sluice-transform')
    })
  }

  itLong(
    'are coarser where the last passes of an interlaced PNG are missing, down to the last row',
    async () => {
      const whole = await interlaced()
      const { src } = await upload(part(whole, 0.4), 'interlaced.png')
      const { status, headers, body } = await exchange(service, `${src}?w=100&h=100&f=png`)
      expect([status, headers['x-sluice-transform']]).to.deep.equal([200, NOTE])
      const rows = await Promise.all([2, 50, 97].map((y) => colourAt(body, 50, y)))
      for (const { r, b, a } of rows) expect([r - b > 60, a]).to.deep.equal([true, 255])
      const { body: info } = await exchange(service, infoOf(src))
      expect(jsonOf({ body: info })).to.include({ truncated: true, width: SIDE, height: SIDE })
    },
  )

  it('keep the available frames of an animation', async () => {
    const bytes = await animation({ width: 100, height: 100 })
    const { src } = await upload(part(bytes, 0.8), 'frames.gif')
    const { status, headers, body } = await exchange(service, `${src}?w=20`)
    expect(status).to.equal(200)
    expect(headers['x-sluice-transform']).to.equal(NOTE)
    expect((await sharp(body, { animated: true }).metadata()).pages).to.be.within(2, 3)
  })

  itLong('are rendered in a child process as well', async () => {
    const { src } = await upload(part(await noise('png'), 0.6), 'apart.png')
    const { status, headers } = await exchange(service, `${src}?w=50&f=avif`)
    expect([status, headers['content-type'], headers['x-sluice-transform']]).to.deep.equal([
      200,
      'image/avif',
      NOTE,
    ])
  })

  it('can be watermarks', async () => {
    const mark = await upload(part(await noise('png'), 0.6), 'mark.png')
    const { src } = await upload(await picture(), 'whole.png')
    const { status, headers } = await exchange(service, `${src}?wm=${mark.s3PathOriginal}`)
    expect(status).to.equal(200)
    expect(headers).to.not.have.property('x-sluice-transform')
  })

  it('are marked as truncated in their info, colours included', async () => {
    for (const [name, bytes] of [
      ['info.jpg', part(await noise('jpeg'), 0.6)],
      ['info.gif', part(await noise('gif'), 0.6)],
    ] as const) {
      const { src } = await upload(bytes, name)
      const { status, body } = await exchange(service, infoOf(src))
      expect(status).to.equal(200)
      expect(jsonOf({ body })).to.include({ truncated: true, width: SIDE, height: SIDE })
      expect(jsonOf({ body })).to.include.keys('dominantColor', 'thumbHash')
    }
    const { src } = await upload(await picture(), 'whole.png')
    const { body } = await exchange(service, infoOf(src))
    expect(jsonOf({ body })).to.not.have.property('truncated')
  })

  for (const [what, name, make] of everyNth(3, [
    ['ends within its header', 'head.jpg', async () => (await noise('jpeg')).subarray(0, 100)],
    ['ends before its first row', 'row.png', async () => (await noise('png')).subarray(0, 100)],
    [
      'is interlaced and ends before its first row',
      'i.png',
      async () => (await interlaced()).subarray(0, 100),
    ],
    ['is a WebP', 'a.webp', async () => part(await picture({ format: 'webp' }), 0.6)],
  ] as const)) {
    it(`respond 422 when the image ${what}`, async () => {
      const { src } = await upload(await make(), name)
      const answer = await exchange(service, `${src}?w=100`)
      expect(answer.status).to.equal(422)
      expect(jsonOf(answer)).to.include({ code: 'not_transformable', reason: 'broken' })
    })
  }

  it('keep X-Sluice-Transform when the index is lost', async () => {
    const before = await start()
    const { src } = await uploadOne(before, { name: 'a.jpg', bytes: part(await noise('jpeg'), 0.6) })
    await exchange(before, `${src}?w=30`)
    await before.stop({ keepData: true })
    await backend.emptyIndex(before.dataDir)
    const after = await start({ dataDir: before.dataDir })
    const path = new URL(src).pathname
    for (const query of ['?w=30', '?w=31']) {
      const { status, headers } = await exchange(after, path + query)
      expect([status, headers['x-sluice-transform']]).to.deep.equal([200, NOTE])
    }
  })

  itLong(
    'are marked at their first transformation when a version without the mark has stored them',
    async () => {
      const before = await start()
      const cut = [await noise('png'), await interlaced(), await noise('jpeg'), await noise('gif')]
      const uploads = cut.map((bytes) => uploadOne(before, { name: 'a', bytes: part(bytes, 0.6) }))
      const paths = (await Promise.all(uploads)).map(({ src }) => new URL(src).pathname)
      expect(await withoutMarks(before)).to.equal(cut.length)
      await before.stop({ keepData: true })
      await backend.emptyIndex(before.dataDir)
      const after = await start({ dataDir: before.dataDir })
      const isMarked = async (path: string) =>
        expect(jsonOf(await exchange(after, infoOf(path)))).to.include({ truncated: true, width: SIDE })
      for (const [i, path] of paths.entries()) {
        if (i % 2 === 0) await isMarked(path)
        for (const query of ['?w=30', '?w=30', '?w=31']) {
          const { status, headers } = await exchange(after, path + query)
          expect([status, headers['x-sluice-transform']]).to.deep.equal([200, NOTE])
        }
        await isMarked(path)
      }
      // In the bucket as well: the index may be lost.
      expect(await withoutMarks(after)).to.equal(cut.length)
    },
  )

  itLong('are not read again for each request while the mark cannot be written', async () => {
    const before = await start()
    const { src } = await uploadOne(before, { name: 'a.png', bytes: part(await noise('png'), 0.6) })
    expect(await withoutMarks(before)).to.equal(1)
    await before.stop({ keepData: true })
    await backend.emptyIndex(before.dataDir)
    let opened = 0
    const after = await start({
      dataDir: before.dataDir,
      wrapStorage: wrapBuckets((bucket) => ({
        async find(key, known) {
          const asset = await bucket.find(key, known)
          return (
            asset && {
              ...asset,
              open(options) {
                if (key.endsWith('.png')) opened += 1
                return asset.open(options)
              },
            }
          )
        },
        async put(key, bytes, options) {
          if (!key.startsWith('.sluice/')) return bucket.put(key, bytes, options)
          bytes.destroy()
          throw unavailable('the bucket takes no writes')
        },
      })),
    })
    const opensOf = async (query: string) => {
      const already = opened
      expect((await exchange(after, new URL(src).pathname + query)).status).to.equal(422)
      return opened - already
    }
    expect(await opensOf('?w=30')).to.be.above(0)
    expect(await opensOf('?w=30')).to.equal(0)
  })

  it('are not read again for each request when they are broken but complete', async () => {
    let opened = 0
    const counted = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        find: async (key, known) => {
          const asset = await bucket.find(key, known)
          return (
            asset && {
              ...asset,
              open: (options) => {
                opened += 1
                return asset.open(options)
              },
            }
          )
        },
      })),
    })
    const { src } = await uploadOne(counted, { name: 'a.png', bytes: corrupted(await picture()) })
    const opensOf = async (query: string) => {
      const before = opened
      expect((await exchange(counted, src + query)).status).to.equal(422)
      return opened - before
    }
    expect(await opensOf('?w=30')).to.be.above(0)
    expect(await opensOf('?w=30')).to.equal(0)
  })

  it('respond 422 when the operator refuses them', async () => {
    const strict = await start({ env: { IMAGE_TRUNCATED: 'refuse' } })
    for (const picture of [await noise('png'), await interlaced()]) {
      const { src } = await uploadOne(strict, { name: 'a.png', bytes: part(picture, 0.6) })
      for (const query of ['?w=30', '?f=avif']) {
        const answer = await exchange(strict, src + query)
        expect([answer.status, jsonOf(answer).code]).to.deep.equal([422, 'truncated_image'])
      }
    }
    const whole = await uploadOne(strict, { name: 'b.png', bytes: await noise('png') })
    expect((await exchange(strict, `${whole.src}?w=30`)).status).to.equal(200)
  })
})
