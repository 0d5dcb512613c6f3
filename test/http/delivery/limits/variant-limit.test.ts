import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { EMBEDDED } from '../../../support/backend.ts'
import { DISK_REDIS, stoppedAtTheEnd } from '../../../support/backends.ts'
import { picture } from '../../../support/media/images.ts'
import { entriesOf } from '../../../support/requests/archive.ts'
import { postZip, uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { type Service, startService } from '../../../support/service.ts'
import { sized } from '../../../support/sized.ts'
import { settled } from '../../../support/stored/settled.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** The variants that the index has as stored, in order; once nothing is in progress. */
async function stored(service: Service, { s3PathOriginal }: WireRecord, clientId = 'first') {
  await settled(service)
  const file = await service.storage.index.look({ clientId, key: storedKey(s3PathOriginal) })
  const objects = new Set<string>()
  const bucket = service.storage.buckets.of({ id: clientId, token: '' })
  for await (const key of bucket.list(`${s3PathOriginal}_`)) objects.add(key)
  const variants = (file?.derivatives ?? []).map(({ key }) => key.slice(s3PathOriginal.length + 1))
  expect(objects.size, 'the bucket holds what the index has').to.equal(variants.length)
  return variants.sort()
}

// The suite below is on Redis.
for (const backend of sized([EMBEDDED], [EMBEDDED, DISK_REDIS]))
  describe(`variants of a file over the variant limit (${backend.name})`, () => {
    const start = stoppedAtTheEnd((options) => startService({ backend, ...options }))
    let service: Service
    let png: Buffer
    let record: WireRecord
    before(async () => {
      service = await start({ env: { VARIANT_LIMIT: '2' } })
      png = await picture({ width: 40, height: 30 })
    })
    beforeEach(async () => {
      record = await uploadOne(service, { name: 'a.png', bytes: png })
    })

    const get = async (query: string, of = record) => {
      const answer = await exchange(service, `${of.src}?${query}`)
      // What is sent before it is stored would come second in the order of uses.
      await settled(service)
      return answer
    }
    const statuses = async (...queries: string[]) => {
      const found: number[] = []
      for (const query of queries) found.push((await get(query)).status)
      return found
    }

    it('evict the least recently used variant, which is rendered again on request', async () => {
      expect(await statuses('w=10', 'w=11', 'w=12')).to.deep.equal([200, 200, 200])
      expect(await stored(service, record)).to.deep.equal(['w=11', 'w=12'])
      // Used: noted.
      expect(await statuses('w=11', 'w=10')).to.deep.equal([200, 200])
      expect(await stored(service, record)).to.deep.equal(['w=10', 'w=11'])
    })

    it('do not count for another file', async () => {
      const other = await uploadOne(service, { name: 'b.png', bytes: png })
      await statuses('w=10', 'w=11')
      expect((await get('w=12', other)).status).to.equal(200)
      expect(await stored(service, record)).to.deep.equal(['w=10', 'w=11'])
    })

    it('are rendered for all concurrent callers, and stored only up to the limit', async () => {
      const asked = Array.from({ length: 12 }, (_, i) => exchange(service, `${record.src}?w=${i + 1}`))
      const answers = await Promise.all(asked)
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]))
      expect((await stored(service, record)).length).to.be.at.most(2)
    })

    it('do not count when they could not be rendered', async () => {
      const bytes = Buffer.concat([png.subarray(0, 60), Buffer.alloc(500)])
      const broken = await uploadOne(service, { name: 'a.png', bytes })
      for (const w of [1, 2, 3]) expect((await get(`w=${w}`, broken)).status).to.equal(422)
      expect(await stored(service, broken)).to.deep.equal([])
    })

    it('are delivered in an archive', async () => {
      await statuses('w=10', 'w=11')
      const item = (w: number) => ({ path: record.sourceName, name: `${w}.png`, params: { w } })
      const answer = await postZip(service, { files: [item(10), item(12), item(13)] })
      const entries = entriesOf(Buffer.from(await answer.arrayBuffer()))
      expect(entries.map(({ name }) => name)).to.deep.equal(['10.png', '12.png', '13.png', '_manifest.json'])
    })

    it('evict variants that strangers requested before those of the owner and presets', async () => {
      const presets = { small: { w: 20 } }
      await service.app.clients.setRules('first', { presets })
      await get('preset=small')
      const strange = [1, 2, 3, 4, 5].map((w) => `w=${w}`)
      expect(await statuses(...strange)).to.deep.equal([200, 200, 200, 200, 200])
      expect(await stored(service, record)).to.deep.equal(['w=20', 'w=5'])
      // By an archive with the secret: it replaces the variant of the stranger.
      const files = [{ path: record.sourceName, params: { w: 30 } }]
      await (await postZip(service, { files })).arrayBuffer()
      expect(await stored(service, record)).to.deep.equal(['w=20', 'w=30'])
      // And no stranger takes its place, nor that of the preset.
      expect(await statuses('w=6')).to.deep.equal([200])
      expect(await stored(service, record)).to.deep.equal(['w=20', 'w=30'])
    })

    it('are delivered without being stored when all others are protected, cached for a minute', async () => {
      const presets = { small: { w: 20 }, large: { w: 30 }, huge: { w: 35 } }
      await service.app.clients.setRules('first', { presets })
      expect(await statuses('preset=small', 'preset=large')).to.deep.equal([200, 200])
      for (const _ of [1, 2]) {
        const { status, headers } = await get('w=7')
        expect(status).to.equal(200)
        expect(headers['cache-control']).to.equal('public, max-age=60')
      }
      expect(await stored(service, record)).to.deep.equal(['w=20', 'w=30'])
      // A preset is never refused: it evicts another one.
      expect((await get('preset=huge')).headers['cache-control']).to.equal('public, max-age=604800')
      expect(await stored(service, record)).to.deep.equal(['w=30', 'w=35'])
    })

    it('do not exceed the derivative bytes of their client', async () => {
      await service.app.clients.setRules('first', { variantLimit: 100 })
      const size = (await get('w=40&f=png')).body.length
      const ref = { clientId: 'first', key: storedKey(record.s3PathOriginal) }
      const { client: already } = await service.storage.index.derivedBytes(ref)
      const other = await uploadOne(service, { name: 'b.png', bytes: png })
      await service.app.clients.setRules('first', { derivativesMaxBytes: already + 3 * size })
      for (let w = 30; w < 40; w += 1) expect((await get(`w=${w}&f=png`, other)).status).to.equal(200)
      const { client } = await service.storage.index.derivedBytes(ref)
      expect(client).to.be.within(already, already + 3 * size)
      await service.app.clients.setRules('first', { variantLimit: false, derivativesMaxBytes: 1 })
      const { status, headers } = await get('w=5&f=png', other)
      expect({ status, cache: headers['cache-control'] }).to.deep.equal({
        status: 200,
        cache: 'public, max-age=60',
      })
      await service.app.clients.setRules('first', { derivativesMaxBytes: false })
    })

    it('remain readable for open responses while they are evicted', async () => {
      await statuses('w=10', 'w=11')
      const [oldest] = await service.storage.index.leastUsed(
        { clientId: 'first', key: storedKey(record.s3PathOriginal) },
        1,
      )
      if (!oldest) throw new Error('nothing is stored')
      const asset = await service.storage.buckets.of({ id: 'first', token: '' }).find(oldest.key)
      const opened = await asset?.open()
      await get('w=12')
      expect(await stored(service, record)).to.deep.equal(['w=11', 'w=12'])
      let length = 0
      for await (const chunk of opened ?? []) length += (chunk as Buffer).length
      expect(length).to.equal(asset?.size)
    })
  })

describe('variants of a file over the variant limit, requested from two processes', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: DISK_REDIS, ...options }))

  it('are rendered for all concurrent callers, equal ones included', async () => {
    const dataDir = await temporaryFolder()
    const env = { VARIANT_LIMIT: '3' }
    const services = [await start({ dataDir, env }), await start({ dataDir, env })]
    const [first] = services
    if (!first) throw new Error('no service')
    const record = await uploadOne(first, { name: 'a.png', bytes: await picture() })
    const path = record.src.slice(first.url.length)
    const answers = await Promise.all(
      services.flatMap((service) =>
        [1, 2, 3, 4, 5, 6].flatMap((n) => [
          exchange(service, `${path}?w=${n}`),
          exchange(service, `${path}?w=${n + (service === first ? 10 : 20)}`),
        ]),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]))
    expect((await stored(first, record)).length).to.be.at.most(3)
    for (const service of services) await service.stop({ keepData: true })
    await rm(dataDir, { recursive: true })
  })
})
