import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { entriesOf } from '../support/archive.ts'
import { DISK_REDIS, onTwoBackends, stoppedAtTheEnd } from '../support/backends.ts'
import { deleteFile, postZip, uploadOne, type WireRecord } from '../support/client.ts'
import { type Answer, exchange, jsonOf } from '../support/exchange.ts'
import { picture } from '../support/images.ts'
import { type Service, startService } from '../support/service.ts'
import { settled } from '../support/settled.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

onTwoBackends('variants of a file', (start) => {
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

  const get = (query: string, { src } = record): Promise<Answer> => exchange(service, `${src}?${query}`)
  const statuses = async (queries: readonly string[], of = record) => {
    const found: number[] = []
    for (const query of queries) found.push((await get(query, of)).status)
    return found
  }

  it('past their number are a 429 that says when to come back, in headers and body', async () => {
    expect(await statuses(['w=10', 'w=11'])).to.deep.equal([200, 200])
    const { status, headers, ...answer } = await get('w=12')
    expect(status).to.equal(429)
    expect(headers).to.include({
      'retry-after': '3600',
      ratelimit: '"variants";r=0',
      'ratelimit-policy': '"variants";q=2',
      'cache-control': 'no-store',
    })
    expect(jsonOf(answer)).to.include({ code: 'variant_limit', limit: 2, retryAfterSeconds: 3600 })
  })

  it('that are stored go on, in any spelling, and so does the original', async () => {
    await statuses(['w=10', 'w=11'])
    await settled(service)
    expect(await statuses(['w=12', 'w=10', 'width=11&q=75', '', 'f=jpeg'])).to.deep.equal([
      ...[429, 200, 200, 200, 429],
    ])
  })

  it('do not count for another file', async () => {
    const other = await uploadOne(service, { name: 'b.png', bytes: png })
    await statuses(['w=10', 'w=11'])
    expect(await statuses(['w=12'], other)).to.deep.equal([200])
  })

  it('are no more when all ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => get(`w=${i + 1}`)))
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect({ made: count(200), refused: count(429) }).to.deep.equal({ made: 2, refused: 10 })
    await settled(service)
    const { derivatives } = (await (await deleteFile(service, record.s3PathOriginal)).json()) as {
      derivatives: number
    }
    expect(derivatives).to.equal(2)
  })

  it('that could not be made take no place', async () => {
    const broken = await uploadOne(service, {
      name: 'a.png',
      bytes: Buffer.concat([png.subarray(0, 60), Buffer.alloc(500)]),
    })
    expect(await statuses(['w=1', 'w=2', 'w=3'], broken)).to.deep.equal([422, 422, 422])
  })

  it('past their number are left out of an archive, with their code', async () => {
    await statuses(['w=10', 'w=11'])
    const item = (w: number) => ({ path: record.sourceName, name: `${w}.png`, params: { w } })
    const answer = await postZip(service, { files: [item(10), item(12)] })
    const entries = entriesOf(Buffer.from(await answer.arrayBuffer()))
    expect(entries.map(({ name }) => name)).to.deep.equal(['10.png', '_manifest.json'])
    const [, refused] = JSON.parse(String(entries[1]?.bytes))
    expect(refused).to.include({ name: '12.png', status: 'error', code: 429 })
  })
})

describe('variants of a file, asked of two processes', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: DISK_REDIS, ...options }))

  it('are no more when all ask at once', async () => {
    const dataDir = await temporaryFolder()
    const env = { VARIANT_LIMIT: '3' }
    const services = [await start({ dataDir, env }), await start({ dataDir, env })]
    const [first] = services
    if (!first) throw new Error('no service')
    const { src } = await uploadOne(first, { name: 'a.png', bytes: await picture() })
    const path = src.slice(first.url.length)
    const answers = await Promise.all(
      services.flatMap((service) =>
        [1, 2, 3, 4, 5, 6].map((n) => exchange(service, `${path}?w=${n + (service === first ? 0 : 10)}`)),
      ),
    )
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect({ made: count(200), refused: count(429) }).to.deep.equal({ made: 3, refused: 9 })
    for (const service of services) await service.stop({ keepData: true })
    await rm(dataDir, { recursive: true })
  })
})
