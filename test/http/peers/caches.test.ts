import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import type { Cache } from '../../support/peers/cache.ts'
import { startNginx } from '../../support/peers/nginx.ts'
import { answersTo } from '../../support/peers/responses.ts'
import { startVarnish } from '../../support/peers/varnish.ts'
import { partsOf } from '../../support/requests/byteranges.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { type Answer, type Call, exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { noise } from '../../support/stored/noise.ts'

const CACHES = {
  'nginx with proxy_cache': { startCache: startNginx, severalRanges: true },
  // To several ranges that it lets through it answers 503, be the answer to them a 206 or a 200.
  Varnish: { startCache: startVarnish, severalRanges: false },
}

/** A file that no cache has seen yet. */
interface Target {
  /** Without the server's address. */
  path: string
  bytes: Buffer
  etag: string
}

onOneBackend('caches in front', (start) => {
  let service: Service
  const bytes = noise(1_000_000)
  let grain: Buffer
  let derived: Buffer
  before(async () => {
    service = await start()
    const raw = { width: 450, height: 450, channels: 3 as const }
    grain = await sharp(randomBytes(450 * 450 * 3), { raw })
      .png()
      .toBuffer()
    derived = (await exchange(service, (await derivative()).path)).body
  })

  async function derivative() {
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: grain })
    return { path: `${src.slice(service.url.length)}?w=440`, etag: `"${s3PathOriginal}_w=440"` }
  }
  const targets: Record<string, () => Promise<Target>> = {
    'an original': async () => {
      const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.bin', bytes })
      return { path: src.slice(service.url.length), bytes, etag: `"${s3PathOriginal}"` }
    },
    'a stored derivative': async () => {
      const it = await derivative()
      await exchange(service, it.path)
      return { ...it, bytes: derived }
    },
    'a derivative that is not rendered yet': async () => ({ ...(await derivative()), bytes: derived }),
  }

  /** How often a header is there. */
  const count = ({ rawHeaders }: Answer, name: string) =>
    rawHeaders.filter((word, i) => i % 2 === 0 && word.toLowerCase() === name).length

  function expectPart(answer: Answer, { bytes }: Target, [first, last]: [number, number]): void {
    expect(answer.status).to.equal(206)
    expect(count(answer, 'content-range')).to.equal(1)
    expect(answer.headers['content-range']).to.equal(`bytes ${first}-${last}/${bytes.length}`)
    expect(answer.body.equals(bytes.subarray(first, last + 1))).to.equal(true)
  }

  function expectWhole(answer: Answer, { bytes, etag }: Target): void {
    expect(answer.status).to.equal(200)
    expect(answer.headers.etag).to.equal(etag)
    expect(answer.headers['content-length']).to.equal(String(bytes.length))
    expect(answer.headers).not.to.have.property('content-range')
    expect(answer.body.equals(bytes)).to.equal(true)
  }

  for (const [name, { startCache, severalRanges }] of Object.entries(CACHES).slice(0, sized(1, 2))) {
    describe(name, () => {
      let cache: Cache
      before(async () => {
        cache = await startCache(service)
      })
      after(() => cache.stop())

      for (const [what, target] of Object.entries(targets).slice(0, sized(1, 3))) {
        it(`stores ${what}`, async () => {
          const it = await target()
          const answers = answersTo(service, service.url + it.path)
          for (const from of ['MISS', 'HIT', 'HIT']) {
            const answer = await exchange(cache.caching, it.path)
            expect(answer.headers['x-cache']).to.equal(from)
            expectWhole(answer, it)
          }
          await eventually(() => expect(answers()).to.equal('200'))
        })

        it(`serves ranges of ${what}, also when the first request is for a range`, async () => {
          const it = await target()
          const answers = answersTo(service, service.url + it.path)
          const size = it.bytes.length
          for (const [Range, part] of [
            ['bytes=1000-1999', [1000, 1999]],
            [`bytes=${size - 10}-`, [size - 10, size - 1]],
            ['bytes=-5', [size - 5, size - 1]],
          ] as Array<[string, [number, number]]>)
            expectPart(await exchange(cache.caching, it.path, { headers: { Range } }), it, part)
          expectWhole(await exchange(cache.caching, it.path), it)
          await eventually(() => expect(answers()).to.equal('200'))
        })

        it(`revalidates ${what}`, async () => {
          const it = await target()
          const answers = answersTo(service, service.url + it.path)
          expectWhole(await exchange(cache.renewing, it.path), it)
          // For a second nginx may keep it, and it counts in whole ones.
          await eventually(async () => {
            expectWhole(await exchange(cache.renewing, it.path), it)
            expect(answers()).to.equal('200 304')
          })
          expectPart(await exchange(cache.renewing, it.path, { headers: { Range: 'bytes=5-9' } }), it, [5, 9])
        })

        it(`passes requests for ${what} on`, async () => {
          const it = await target()
          const ask = (headers: Call['headers'], method = 'GET') =>
            exchange(cache.passing, it.path, { method, headers: headers ?? {} })
          expectPart(await ask({ Range: 'bytes=7-9' }), it, [7, 9])
          if (severalRanges) {
            const several = await ask({ Range: 'bytes=7-9,-3' })
            expect(several.status).to.equal(206)
            expect(partsOf(several).map((part) => part.bytes)).to.deep.equal([
              it.bytes.subarray(7, 10),
              it.bytes.subarray(-3),
            ])
          }
          expectPart(await ask({ Range: 'bytes=7-9', 'If-Range': it.etag }), it, [7, 9])
          expectWhole(await ask({ Range: 'bytes=7-9', 'If-Range': '"another"' }), it)
          const statuses: Array<[headers: Record<string, string>, status: number]> = [
            [{ Range: 'bytes=99999999-' }, 416],
            [{ 'If-Match': '"another"' }, 412],
            [{ 'If-None-Match': it.etag }, 304],
          ]
          for (const [headers, status] of statuses) expect((await ask(headers)).status).to.equal(status)
          const head = await ask({}, 'HEAD')
          expect(head.headers['content-length']).to.equal(String(it.bytes.length))
          expect(head.body.length).to.equal(0)
        })
      }

      it('answers conditional requests itself', async () => {
        const it = await derivative().then((found) => ({ ...found, bytes: derived }))
        const whole = await exchange(cache.caching, it.path)
        const answers = answersTo(service, service.url + it.path)
        const ask = (headers: Call['headers']) => exchange(cache.caching, it.path, { headers: headers ?? {} })
        const modified = String(whole.headers['last-modified'])
        for (const headers of [{ 'If-None-Match': it.etag }, { 'If-Modified-Since': modified }]) {
          const answer = await ask(headers)
          expect(answer.status).to.equal(304)
          expect(answer.headers['cache-control']).to.equal('public, max-age=604800')
        }
        expectWhole(await ask({ 'If-None-Match': '"another"' }), it)
        expectPart(await ask({ Range: 'bytes=0-4', 'If-Range': it.etag }), it, [0, 4])
        expectWhole(await ask({ Range: 'bytes=0-4', 'If-Range': '"another"' }), it)
        await pause(50)
        expect(answers()).to.equal('')
      })

      it('learns from a HEAD what GET returns', async () => {
        const it = await targets['a derivative that is not rendered yet']?.()
        const head = await exchange(cache.caching, it?.path ?? '', { method: 'HEAD' })
        const get = await exchange(cache.caching, it?.path ?? '')
        expect(head.status).to.equal(200)
        for (const name of ['content-length', 'content-type', 'etag', 'last-modified', 'cache-control'])
          expect(head.headers[name], name).to.equal(get.headers[name]).and.not.to.equal(undefined)
        expect(head.body.length).to.equal(0)
        expect(get.body.equals(derived)).to.equal(true)
      })

      it('stores the formats of f=auto separately', async () => {
        const { path } = await derivative()
        const auto = path.replace('w=440', 'w=400&f=auto')
        for (const from of ['MISS', 'HIT']) {
          for (const type of ['image/webp', 'image/avif', 'image/png']) {
            const { headers } = await exchange(cache.caching, auto, { headers: { Accept: type } })
            expect([headers['content-type'], headers['x-cache']]).to.deep.equal([type, from])
          }
        }
      })

      const refused: Array<[what: string, change: (path: string) => string, status: number]> = [
        ['a file that there is not', (path) => path.replace(/\w{10}\.png/, '1111111111.png'), 404],
        ['a bad parameter', (path) => path.replace('w=440', 'w=0'), 400],
      ]
      for (const [what, change, status] of refused) {
        it(`does not store the response to ${what}`, async () => {
          const missing = change((await derivative()).path)
          const answers = answersTo(service, service.url + missing)
          for (let i = 0; i < 2; i += 1) {
            const answer = await exchange(cache.caching, missing)
            expect(answer.status).to.equal(status)
            expect(answer.headers['cache-control']).to.equal('no-store')
          }
          await eventually(() => expect(answers()).to.equal(`${status} ${status}`))
        })
      }
    })
  }

  describe('nginx with slice', () => {
    const SLICE = 256 * 1024
    let nginx: Awaited<ReturnType<typeof startNginx>>
    before(async () => {
      nginx = await startNginx(service)
    })
    after(() => nginx.stop())

    for (const [what, target] of Object.entries(targets).slice(0, sized(1, 3))) {
      it(`stores ${what}`, async () => {
        const it = await target()
        const answers = answersTo(service, service.url + it.path)
        const slices = Array(Math.ceil(it.bytes.length / SLICE)).fill(206)
        for (let i = 0; i < 2; i += 1) expectWhole(await exchange(nginx.slicing, it.path), it)
        await eventually(() => expect(answers()).to.equal(slices.join(' ')))
      })

      it(`requests only the needed slices of ${what}`, async () => {
        const it = await target()
        const answers = answersTo(service, service.url + it.path)
        const part: [number, number] = [SLICE + 10, 2 * SLICE + 10]
        const headers = { Range: `bytes=${part.join('-')}` }
        for (let i = 0; i < 2; i += 1)
          expectPart(await exchange(nginx.slicing, it.path, { headers }), it, part)
        await eventually(() => expect(answers()).to.equal('206 206'))
      })
    }
  })
})
