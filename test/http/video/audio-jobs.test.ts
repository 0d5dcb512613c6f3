import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { eventually } from '../../support/eventually.ts'
import { heard, tone } from '../../support/media/sounds.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'

describe('audio transformations', () => {
  let service: Service
  let record: WireRecord
  before(async () => {
    service = await startService()
    const bytes = await tone({ levels: [0.1, 0.8], format: 'mp3' })
    record = await uploadOne(service, { name: 'talk.mp3', bytes })
  })
  after(() => service.stop())
  afterEach('leaves no temporary file', async () => {
    await eventually(async () =>
      expect(await readdir(join(service.dataDir, 'media')).catch(() => [])).to.deep.equal([]),
    )
  })

  const get = (query: string) => exchange(service, `${record.src}?${query}`)

  it('respond 423 with a job until they are stored, next to their original', async () => {
    const problem = jsonOf(await get('f=opus&br=48&start=1'))
    expect(problem, JSON.stringify(problem)).to.include({ status: 423, code: 'not_ready' })
    await eventually(async () =>
      expect(jsonOf(await exchange(service, String(problem.job)))).to.have.property('state', 'done'),
    )
    const { body, headers, status } = await get('f=opus&br=48&start=1')
    expect(status).to.equal(200)
    const key = `${record.s3PathOriginal}_br=48&f=opus&start=1`
    expect(headers).to.include({ 'content-type': 'audio/ogg', etag: `"${key}"` })
    const { codec, seconds, peak } = await heard(body)
    expect(codec).to.equal('opus')
    expect(seconds).to.be.closeTo(1, 0.1)
    expect(peak).to.be.closeTo(0.8, 0.05)
    await settled(service)
    expect(await service.objects()).to.include(`first/${key}`)
  })

  it('include waveforms, as JSON and as images', async () => {
    const numbers = await get('waveform&w=50&wait=30')
    expect(numbers.headers['content-type']).to.equal('application/json')
    const { version, length } = jsonOf(numbers)
    expect(version).to.equal(2)
    expect(length).to.be.within(45, 50)
    const picture = await get('waveform&w=50&h=20&f=png&wait=30')
    expect(picture.headers['content-type']).to.equal('image/png')
    expect(await sharp(picture.body).metadata()).to.include({ width: 50, height: 20 })
  })

  it('respond 422 to a file without decodable audio, and 400 to unknown parameters', async () => {
    const { src } = await uploadOne(service, { name: 'a.mp3', bytes: brokenMp3() })
    const broken = jsonOf(await exchange(service, `${src}?f=wav&wait=30`))
    expect(broken, JSON.stringify(broken)).to.include({ status: 422, code: 'not_transformable' })
    expect(jsonOf(await get('q=80'))).to.include({ status: 400, code: 'unknown_parameter' })
  })

  it('are listed by GET /v1/parameters', async () => {
    const { audio } = jsonOf(await exchange(service, '/v1/parameters')) as Record<string, unknown>
    expect((audio as Array<{ name: string }>).map(({ name }) => name)).to.deep.equal([
      ...['thumbnail', 'start', 'end', 'loudnorm', 'waveform', 'w', 'h', 'f', 'br'],
    ])
  })

  it('are deleted with their original', async () => {
    const objects = async () => (await service.objects()).filter((name) => name.includes(record.sourceName))
    expect(await objects()).to.have.length.above(3)
    expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    expect(await objects()).to.deep.equal([])
  })
})

/** What the type is known by, and nothing to be heard. */
function brokenMp3(): Buffer {
  const id3 = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, 0, 0, 0])
  return Buffer.concat([id3, Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(2000)])
}
