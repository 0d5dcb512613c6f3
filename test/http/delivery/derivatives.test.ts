import { setMaxListeners } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import sharp from 'sharp'
import { EMBEDDED } from '../../support/backend.ts'
import { onTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { watchedEngine } from '../../support/media/engines.ts'
import { animation, colourAt, corrupted, picture } from '../../support/media/images.ts'
import { deleteFile, rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong, usuallyOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { settled } from '../../support/stored/settled.ts'

onTwoBackends('derivatives', (start, backend, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  const watched = watchedEngine()
  let service: Service
  let record: WireRecord
  /** How many transforms have found their source and wait for their turn, or have had it. */
  let sourcesFound = 0
  before(async () => {
    const counting = wrapBuckets((bucket) => ({
      async find(key, known) {
        const asset = await bucket.find(key, known)
        if (asset) sourcesFound += 1
        return asset
      },
    }))
    service = await start({ engines: [watched.engine], wrapStorage: counting })
  })
  beforeEach(async () => {
    record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
  })
  afterEach(() => watched.release())

  const still = (background: string) =>
    sharp({ create: { width: 20, height: 10, channels: 3, background } })
      .png()
      .toBuffer()

  async function storedBesideOriginal(): Promise<string[]> {
    const key = `first/${record.s3PathOriginal}`
    return (await service.objects())
      .filter((name) => name.startsWith(key))
      .map((name) => name.slice(key.length))
  }

  async function storedEventually(names: string[]): Promise<void> {
    await settled(service)
    expect(await storedBesideOriginal()).to.have.members(['', ...names])
  }

  itUsuallyOnce('are images as the parameters request', async () => {
    const asked: Record<string, { format: string; width: number; height: number }> = {
      '?w=100&h=50': { format: 'png', width: 100, height: 50 },
      '?w=100': { format: 'png', width: 100, height: 75 },
      '?h=30&f=jpg': { format: 'jpeg', width: 40, height: 30 },
      '?width=100&height=100&fit=inside&format=webp': { format: 'webp', width: 100, height: 75 },
      '?f=avif': { format: 'heif', width: 400, height: 300 },
    }
    for (const [query, expected] of Object.entries(asked)) {
      const { body } = await exchange(service, `${record.src}${query}`)
      const { format, width, height } = await sharp(body).metadata()
      expect({ format, width, height }, query).to.deep.equal(expected)
    }
  })

  describe('derivatives of an image that is too tall for a format', () => {
    const tall = (height: number) =>
      sharp({ create: { width: 4, height, channels: 3, background: '#f00' } })
        .png()
        .toBuffer()
    const accept = { headers: { accept: 'image/avif,image/webp' } }
    const sorted = (query: string) => query.split('&').sort().join('&')

    itOnce('are in a format that can hold the height for f=auto, and their key names it', async () => {
      record = await uploadOne(service, { name: 'a.png', bytes: await tall(20_000) })
      for (const query of ['f=auto', 'f=auto', 'w=2&f=auto']) {
        const { status, headers, body } = await exchange(service, `${record.src}?${query}`, accept)
        expect(status, body.toString('utf8', 0, 300)).to.equal(200)
        // The smallest one, for an image of few pixels.
        const types = query === 'f=auto' ? ['image/png'] : ['image/avif', 'image/webp', 'image/png']
        expect(headers['content-type']).to.be.oneOf(types)
        expect(headers.vary).to.equal('Accept')
        const variant = query === 'f=auto' ? 'default' : query
        expect(headers.etag).to.equal(`"${record.s3PathOriginal}_${sorted(variant)}"`)
      }
    })

    itOnce('respond 422 with the limit when the format is explicit', async () => {
      const { src } = await uploadOne(service, { name: 'a.png', bytes: await tall(66_000) })
      const limits = { webp: 16_383, avif: 16_384, jpeg: 65_500, gif: 65_535 }
      for (const [format, maxSide] of Object.entries(limits)) {
        const answer = await exchange(service, `${src}?f=${format}`, accept)
        expect(answer.status).to.equal(422)
        expect(jsonOf(answer)).to.include({ code: 'format_too_small', format, maxSide })
        expect(jsonOf(answer).detail).to.match(
          new RegExp(`exceed ${maxSide} px a side, the maximum of ${format}`),
        )
      }
    })
  })

  itOnce('respond 400 to a page that the file does not have', async () => {
    record = await uploadOne(service, { name: 'a.gif', bytes: await animation() })
    expect((await exchange(service, `${record.src}?page=3`)).status).to.equal(200)
    const answer = await exchange(service, `${record.src}?page=4`)
    expect(answer.status).to.equal(400)
    expect(jsonOf(answer)).to.include({
      code: 'bad_parameter',
      param: 'page',
      expected: 'an integer from 1 to 3 (the number of pages of this file)',
      received: '4',
    })
    await storedEventually(['_page=3'])
    const pages = await Promise.all(['#f00', '#0f0'].map((background) => still(background)))
    const tiff = await sharp(pages, { join: { animated: true } })

      .tiff({ compression: 'lzw' })
      .toBuffer()
    const { src } = await uploadOne(service, { name: 'a.tif', bytes: tiff })
    const second = await exchange(service, `${src}?page=2&f=png`)
    expect(await colourAt(second.body, 5, 5)).to.include({ r: 0, g: 255, b: 0 })
    const third = await exchange(service, `${src}?page=3`)
    expect(third.status).to.equal(400)
    expect(jsonOf(third)).to.include({ param: 'page', received: '3' })
  })

  it('are stored once for all equivalent queries, next to the original', async () => {
    const before = watched.opened
    const answers: Answer[] = []
    for (const query of [
      'w=100&h=50',
      'h=50&w=100',
      'width=100&height=50',
      'w=0100&height=50&utm_source=x&_=1&v=2&fbclid=3',
    ])
      answers.push(await exchange(service, `${record.src}?${query}`))
    for (const { status, headers, body } of answers) {
      expect(status).to.equal(200)
      expect(headers.etag).to.equal(`"${record.s3PathOriginal}_h=50&w=100"`)
      expect(body.equals(answers[0]?.body as Buffer)).to.equal(true)
    }
    await storedEventually(['_h=50&w=100'])
    expect(watched.opened - before).to.equal(1)
  })

  itUsuallyOnce(
    "are one for all widths above the image's own, and a delete of the file deletes it",
    async () => {
      const answers = []
      for (const query of ['w=5000', 'w=400', 'w=401', 'w=4999'])
        answers.push(await exchange(service, `${record.src}?${query}`))
      const [first] = answers
      for (const { status, body, headers } of answers) {
        expect(status).to.equal(200)
        expect(headers.etag).to.equal(first?.headers.etag)
        expect(body.equals(first?.body as Buffer)).to.equal(true)
      }
      await storedEventually(['_w=400'])
      await deleteFile(service, record.s3PathOriginal)
      await settled(service)
      expect(await storedBesideOriginal()).to.deep.equal([])
      expect((await exchange(service, `${record.src}?w=4998`)).status).to.equal(404)
    },
  )

  itOnce('are named by the upright width of an image that its camera has turned', async () => {
    const turned = await picture({ format: 'jpeg', orientation: 6 })
    record = await uploadOne(service, { name: 'a.jpg', bytes: turned })
    const { width, height } = await sharp(turned)
      .metadata()
      .then(({ autoOrient }) => autoOrient)
    for (const w of [width + 1, 5000]) {
      const shown = await sharp((await exchange(service, `${record.src}?w=${w}`)).body).metadata()
      expect({ width: shown.width, height: shown.height }).to.deep.equal({ width, height })
    }
    await storedEventually([`_w=${width}`])
  })

  itOnce('are one default derivative without metadata when every parameter has its default', async () => {
    const before = watched.opened
    for (const query of ['q=75', 'f=png', 'f=png&q=10', 'fit=cover&dpr=2']) {
      const { status, headers } = await exchange(service, `${record.src}?${query}`)
      expect(status, query).to.equal(200)
      expect(headers.etag, query).to.equal(`"${record.s3PathOriginal}_default"`)
    }
    await storedEventually(['_default'])
    expect(watched.opened - before).to.equal(1)
    const byKey = record.src.replace(record.sourceName, `${record.s3PathOriginal}_default`)
    expect((await exchange(service, byKey)).status).to.equal(200)
  })

  itOnce('are the original when the query has no transformation', async () => {
    const before = watched.opened
    for (const query of ['', '?', '?utm_campaign=x', '?_=123&v=1&gclid=a']) {
      const { headers } = await exchange(service, `${record.src}${query}`)
      expect(headers.etag, query).to.equal(`"${record.s3PathOriginal}"`)
    }
    expect(watched.opened).to.equal(before)
  })

  itUsuallyOnce('are served under their own key once they are stored, and on the raw route', async () => {
    const key = encodeURI(`${record.s3PathOriginal}_h=50&w=100`)
    const { clientToken } = service.tokens
    const own = `/v1/image/upload/${clientToken}/${key}`
    const raw = `/v1/bucket/${clientToken}/${key}`
    for (const address of [own, raw]) expect((await exchange(service, address)).status).to.equal(404)
    const made = await exchange(service, `${record.src}?w=100&h=50`)
    await eventually(async () => expect((await exchange(service, own)).status).to.equal(200))
    for (const address of [own, raw]) {
      const { status, headers, body } = await exchange(service, address)
      expect(status).to.equal(200)
      expect(headers.etag).to.equal(made.headers.etag)
      expect(headers['last-modified']).to.equal(made.headers['last-modified'])
      expect(body.equals(made.body)).to.equal(true)
    }
  })

  itOnce('respond 400 to a transformation of a derivative', async () => {
    await exchange(service, `${record.src}?w=100`)
    await storedEventually(['_w=100'])
    const answer = await exchange(
      service,
      `/v1/image/upload/${service.tokens.clientToken}/${record.s3PathOriginal}_w=100?h=10`,
    )
    expect({ status: answer.status, code: jsonOf(answer).code }).to.deep.equal({
      status: 400,
      code: 'transform_of_derivative',
    })
  })

  it('are rendered again when the bucket has lost their bytes', async () => {
    const first = await exchange(service, `${record.src}?w=100`)
    await storedEventually(['_w=100'])
    const bucket = service.storage.buckets.of({ id: 'first', token: '' })
    for await (const key of bucket.list(`${record.s3PathOriginal}_`)) await bucket.delete([key])
    await storedEventually([])
    const before = watched.opened
    const again = await exchange(service, `${record.src}?w=100`)
    expect(again.status).to.equal(200)
    expect(again.body.equals(first.body)).to.equal(true)
    expect(watched.opened - before).to.equal(1)
    await storedEventually(['_w=100'])
  })

  it('respond 404 when the bucket has lost the original', async () => {
    const bucket = service.storage.buckets.of({ id: 'first', token: '' })
    for await (const key of bucket.list(record.s3PathOriginal)) await bucket.delete([key])
    for (const address of [record.src, `${record.src}?w=100`, rawPath(service, record.s3Path)]) {
      const answer = await exchange(service, address)
      expect({ status: answer.status, code: jsonOf(answer).code }).to.deep.equal({
        status: 404,
        code: 'file_not_found',
      })
    }
  })

  /** A signal for any number of requests. */
  function leaving(): AbortController {
    const controller = new AbortController()
    setMaxListeners(0, controller.signal)
    return controller
  }

  /** Waits until so many requests have arrived. What follows until they join a render takes no request of its own. */
  async function arrived(count: number): Promise<void> {
    await eventually(() => expect(service.arrived()).to.equal(count))
    await pause(50)
  }

  describe('concurrent requests for derivatives', () => {
    const address = () => `${record.src}?w=64`

    itOnce('render once for 50 equal requests', async () => {
      const before = { opened: watched.opened, rendered: watched.rendered, arrived: service.arrived() }
      watched.hold()
      const spellings = ['w=64&f=webp&q=80', 'width=64&q=80&f=webp', 'w=64&f=webp&q=80&utm_source=a']
      const requests = Array.from({ length: 50 }, (_, i) =>
        exchange(service, `${record.src}?${spellings[i % spellings.length]}`),
      )
      await arrived(before.arrived + 50)
      watched.release()
      const answers = await Promise.all(requests)
      for (const { status, body } of answers) {
        expect(status).to.equal(200)
        expect(body.equals(answers[0]?.body as Buffer)).to.equal(true)
      }
      expect(watched.opened - before.opened).to.equal(1)
      expect(watched.rendered - before.rendered).to.equal(1)
      await storedEventually(['_f=webp&q=80&w=64'])
    })

    itOnce('render once for each variant', async () => {
      const before = watched.opened
      const widths = [10, 11, 12, 13]
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          exchange(service, `${record.src}?w=${widths[i % widths.length]}`),
        ),
      )
      const sizes = await Promise.all(answers.map(async ({ body }) => (await sharp(body).metadata()).width))
      expect(sizes).to.deep.equal(Array.from({ length: 40 }, (_, i) => widths[i % widths.length]))
      expect(watched.opened - before).to.equal(4)
    })

    itOnce('decode a broken file once for 50 requests, which all get its 422', async () => {
      const broken = await uploadOne(service, { name: 'b.png', bytes: corrupted(await picture()) })
      expect(broken.format).to.equal('png')
      const before = watched.opened
      const earlier = service.arrived()
      watched.hold()
      const requests = Array.from({ length: 50 }, () => exchange(service, `${broken.src}?w=64`))
      await arrived(earlier + 50)
      watched.release()
      for (const answer of await Promise.all(requests)) {
        expect({ status: answer.status, code: jsonOf(answer).code }).to.deep.equal({
          status: 422,
          code: 'not_transformable',
        })
        expect(answer.headers['cache-control']).to.equal('no-store')
      }
      expect(watched.opened - before).to.equal(1)
      // The file itself is as it was sent.
      expect((await exchange(service, broken.src)).status).to.equal(200)
    })

    for (const leaving of [0, 25, 49]) {
      itOnce(`continue when client ${leaving + 1} of 50 disconnects`, async () => {
        const before = { opened: watched.opened, aborted: watched.aborted, arrived: service.arrived() }
        watched.hold()
        const gone = new AbortController()
        const requests: Array<Promise<Answer | undefined>> = []
        for (let i = 0; i < 50; i += 1) {
          const request = exchange(service, address(), i === leaving ? { signal: gone.signal } : {})
          requests.push(request.catch(() => undefined))
          // The first one is the one that starts the work.
          if (i === 0) await eventually(() => expect(watched.opened).to.equal(before.opened + 1))
        }
        await arrived(before.arrived + 50)
        gone.abort()
        await pause(50)
        watched.release()
        for (const [i, answer] of (await Promise.all(requests)).entries())
          expect(answer?.status, `client ${i + 1}`).to.equal(i === leaving ? undefined : 200)
        expect(watched.opened - before.opened).to.equal(1)
        expect(watched.aborted).to.equal(before.aborted)
        await storedEventually(['_w=64'])
      })
    }

    itOnce(
      'abort the render when the last client disconnects, and render again for the next one',
      async () => {
        const before = { opened: watched.opened, aborted: watched.aborted, arrived: service.arrived() }
        watched.hold()
        const gone = leaving()
        const requests = Array.from({ length: 10 }, () =>
          exchange(service, address(), { signal: gone.signal }).catch(() => 'left'),
        )
        await eventually(() => expect(watched.opened).to.equal(before.opened + 1))
        await arrived(before.arrived + 10)
        gone.abort()
        expect(new Set(await Promise.all(requests))).to.deep.equal(new Set(['left']))
        await eventually(() => expect(watched.aborted).to.equal(before.aborted + 1))
        watched.release()
        await storedEventually([])
        expect((await exchange(service, address())).status).to.equal(200)
        await storedEventually(['_w=64'])
      },
    )
  })

  itUsuallyOnce(
    'deliver a large derivative only once it is stored, so that slow readers keep none in memory',
    async () => {
      const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
      const create = { width: 2000, height: 1600, channels: 3, background: '#888', noise } as const
      const large = await uploadOne(service, {
        name: 'a.jpg',
        bytes: await sharp({ create }).jpeg().toBuffer(),
      })
      const { status, body } = await exchange(service, `${large.src}?f=png`)
      expect(status).to.equal(200)
      expect(body.length).to.be.above(8 * 1024 * 1024)
      expect(await sharp(body).metadata()).to.include({ format: 'png', width: 2000, height: 1600 })
      expect(await service.objects()).to.include(`first/${large.s3PathOriginal}_f=png`)
      const again = await exchange(service, `${large.src}?f=png`)
      expect(again.body.equals(body)).to.equal(true)
    },
  )

  itUsuallyOnce('deliver a small derivative while it is still being stored', async () => {
    let store = () => {}
    const gate = new Promise<void>((done) => {
      store = done
    })
    const slow = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          if (key.includes('_w=')) await gate
          return bucket.put(key, bytes, options)
        },
      })),
    })
    const file = await uploadOne(slow, { name: 'a.png', bytes: await picture() })
    const first = await exchange(slow, `${file.src}?w=20`)
    // A second one has the same answer, though nothing is stored yet.
    const second = await exchange(slow, `${file.src}?w=20`)
    expect([first.status, second.status]).to.deep.equal([200, 200])
    expect(second.body.equals(first.body)).to.equal(true)
    expect((await slow.objects()).filter((name) => name.includes('_w='))).to.deep.equal([])
    store()
    await eventually(async () =>
      expect((await slow.objects()).filter((name) => name.includes('_w='))).to.have.length(1),
    )
  })

  // The rest does not depend on the storage.
  if (backend !== EMBEDDED) return

  itLong('are WebP for f=auto where AVIF would take too long, and vary by Accept', async () => {
    const bytes = await picture({ width: 2500, height: 2000, format: 'jpeg' })
    record = await uploadOne(service, { name: 'a.jpg', bytes })
    for (const accept of ['image/avif,image/webp', 'image/avif,image/webp', 'image/webp', '*/*']) {
      const { status, headers } = await exchange(service, `${record.src}?f=auto`, { headers: { accept } })
      expect(status).to.equal(200)
      expect(headers).to.include({
        'content-type': accept === '*/*' ? 'image/jpeg' : 'image/webp',
        vary: 'Accept',
      })
    }
    await storedEventually(['_f=auto', '_f=auto-webp', '_default'])
  })

  it('are the uploaded SVG for f=svg, and are not stored', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="6"><!-- kept --></svg>'
    record = await uploadOne(service, { name: 'a.svg', bytes: svg })
    const { body, headers } = await exchange(service, `${record.src}?f=svg`)
    expect(body.toString()).to.equal(svg)
    expect(headers).to.include({ 'content-type': 'image/svg+xml', etag: `"${record.s3PathOriginal}"` })
    expect(headers['content-security-policy']).to.include('sandbox')
    const refused = await exchange(service, `${record.src}?f=svg&w=9`)
    expect({ status: refused.status, param: jsonOf(refused).param }).to.deep.equal({
      status: 400,
      param: 'w',
    })
    await storedEventually([])
  })

  itUsuallyOnce(
    'respond 503 with Retry-After when the queue is full, and still deliver stored files',
    async () => {
      await exchange(service, `${record.src}?w=5`)
      await storedEventually(['_w=5'])
      watched.hold()
      const gone = leaving()
      // Those that wait, and those that run: one more than there are cores.
      const room = 256 + availableParallelism() + 1
      const before = sourcesFound
      const waiting = Array.from({ length: room }, (_, i) =>
        exchange(service, `${record.src}?w=${100 + i}&h=7`, { signal: gone.signal }).catch(() => undefined),
      )
      await eventually(() => expect(sourcesFound - before).to.equal(room))
      const refused = await exchange(service, `${record.src}?w=1000&h=7`)
      expect(refused.status).to.equal(503)
      expect(Number(refused.headers['retry-after'])).to.be.above(0)
      expect(refused.headers['cache-control']).to.equal('no-store')
      expect(jsonOf(refused)).to.include({ code: 'unavailable', retryAfterSeconds: 5 })
      for (const address of [record.src, `${record.src}?w=5`])
        expect((await exchange(service, address)).status).to.equal(200)
      gone.abort()
      await Promise.all(waiting)
      watched.release()
      await eventually(async () =>
        expect((await exchange(service, `${record.src}?w=1000&h=7`)).status).to.equal(200),
      )
    },
  )
})
