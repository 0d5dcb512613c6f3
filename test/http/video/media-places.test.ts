import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { type StartService, stoppedAtTheEnd } from '../../support/backends.ts'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { film } from '../../support/media/videos.ts'
import { sampleOf } from '../../support/metrics.ts'
import { newClient, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { postForm } from '../../support/requests/multipart.ts'
import { type Service, type ServiceOptions, startService } from '../../support/service.ts'
import { everyNth, itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('media jobs requested by strangers', () => {
  let root: string
  let bytes: Buffer
  const start: StartService = stoppedAtTheEnd((options) => startService({ backend: EMBEDDED, ...options }))

  before(async () => {
    bytes = await film({ colours: ['red', 'blue'] })
    root = await temporaryFolder()
    await mkdir(join(root, 'config'))
    const presets = { tiny: { w: 22 }, little: { w: 24 }, small: { w: 26 } }
    await writeFile(join(root, 'config', 'presets.json'), JSON.stringify(presets))
  })

  /** A service in which no job ends before `end` is called, with one film. */
  async function startHeld(env: Record<string, string> = {}) {
    let end: () => void = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const stored: string[] = []
    const options: ServiceOptions = {
      root,
      env: { TRUST_PROXY: '1', ...env },
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, ...rest) {
          if (key.includes('_')) await ended
          if (key.includes('_')) stored.push(key)
          return bucket.put(key, ...rest)
        },
      })),
    }
    const service = await start(options)
    const record = await uploadOne(service, { name: 'film.mp4', bytes })
    return { service, record, end, stored }
  }

  const ask = (
    service: Service,
    { src }: WireRecord,
    query: string,
    address = '127.0.0.2',
  ): Promise<Answer> => exchange(service, `${src}?${query}`, { headers: { 'X-Forwarded-For': address } })

  async function statuses(answers: Array<Promise<Answer>>): Promise<number[]> {
    return (await Promise.all(answers)).map(({ status }) => status)
  }

  it('leave places to presets and to the owner, whose uploads come first', async () => {
    const { service, record, end, stored } = await startHeld({ MEDIA_JOBS_LIMIT: '8' })
    const attack = await statuses(
      Array.from({ length: 10 }, (_, i) => ask(service, record, `w=${40 + 2 * i}`)),
    )
    expect(attack.filter((status) => status === 423)).to.have.length(2)
    const refused = jsonOf(await ask(service, record, 'w=90'))
    expect(refused).to.include({ status: 429, code: 'too_many_jobs', limit: 2 })
    expect(refused.detail).to.contain('from your IP address')

    const others = (i: number) => [`w=${60 + 2 * i}`, `127.0.0.${i}`] as const
    const many = await statuses([3, 4, 5, 6].map((i) => ask(service, record, ...others(i))))
    expect(many.filter((status) => status === 423)).to.have.length(2)
    expect(jsonOf(await ask(service, record, 'w=92', '127.0.0.9')).detail).to.contain('without a secret')

    const presets = ['tiny', 'little', 'small'].map((name, i) =>
      ask(service, record, `preset=${name}`, `127.0.1.${i}`),
    )
    expect((await statuses(presets)).sort()).to.deep.equal([423, 423, 429])
    expect((await ask(service, record, 'preset=tiny&w=20', '127.0.0.9')).status).to.equal(429)

    const form = [
      { disposition: 'name="transforms"', bytes: JSON.stringify(['w=30', 'w=32']) },
      { disposition: 'name="file"; filename="other.mp4"', bytes: Buffer.concat([bytes, Buffer.alloc(8)]) },
    ]
    const [own] = jsonOf(await postForm(service, form)) as unknown as [
      WireRecord & { options: { transforms: Array<{ key: string; state: string }> } },
    ]
    expect(own.options.transforms.map(({ state }) => state)).to.deep.equal(['waiting', 'waiting'])
    end()
    await eventually(() => expect(stored).to.have.length(8))
    // The first was under way when the owner came.
    expect(stored.slice(1, 3)).to.have.members(own.options.transforms.map(({ key }) => key))
  })

  it('are counted in the metrics and logged, one line for each', async () => {
    const { service, record, end, stored } = await startHeld({ METRICS_PORT: '0' })
    for (const width of [40, 42]) await ask(service, record, `w=${width}`)
    const kind = { kind: 'media' }
    const read = async () => (await service.app.readMetrics?.()) ?? ''
    await eventually(async () => expect(sampleOf(await read(), 'sluice_jobs_running', kind)).to.equal(1))
    expect(sampleOf(await read(), 'sluice_jobs_waiting', kind)).to.equal(1)
    end()
    await eventually(() => expect(stored).to.have.length(2))
    const done = { ...kind, outcome: 'done' }
    await eventually(async () =>
      expect(sampleOf(await read(), 'sluice_job_duration_seconds_count', done)).to.equal(2),
    )
    const lines = service.log.lines.filter(
      ({ fields }) => (fields as { outcome?: string }).outcome === 'done',
    )
    expect(lines).to.have.length(2)
    expect(JSON.stringify(lines[0]?.fields)).to.contain(`first ${record.s3PathOriginal}_w=40`)
  })

  itLong('come after the single job of another client', async function () {
    this.timeout(120_000)
    const { service, record, end, stored } = await startHeld()
    for (const width of [40, 42, 44, 46]) await ask(service, record, `w=${width}`)
    const other = await newClient(service)
    const its = await uploadOne(other, { name: 'film.mp4', bytes })
    expect((await ask(service, its, 'w=48')).status).to.equal(423)
    end()
    await eventually(() => expect(stored).to.have.length(5), { withinMs: LONG_MS })
    expect(stored[1]).to.equal(`${its.s3PathOriginal}_w=48`)
  })

  it('take rate limit points of address and client when they begin, and none when they exist', async () => {
    const env = { MEDIA_RATE_LIMIT: '3', MEDIA_RATE_LIMIT_PER_IP: '2' }
    const { service, record, end } = await startHeld(env)
    const same = await statuses(Array.from({ length: 10 }, () => ask(service, record, 'w=40')))
    expect(new Set(same)).to.deep.equal(new Set([423]))
    expect((await ask(service, record, 'w=42')).status).to.equal(423)
    const third = await ask(service, record, 'w=44')
    expect(third.status).to.equal(429)
    expect(jsonOf(third)).to.include({ code: 'rate_limited', limit: 'media_address' })
    expect(Number(third.headers['retry-after'])).to.be.within(1, 600)
    expect((await ask(service, record, 'w=42')).status).to.equal(423)
    expect((await ask(service, record, 'w=46', '127.0.0.3')).status).to.equal(423)
    expect(jsonOf(await ask(service, record, 'w=48', '127.0.0.4'))).to.include({ limit: 'media' })
    end()
  })

  for (const [allowed, byPreset] of everyNth(2, [
    ['presets', 423],
    ['secret', 403],
  ] as const)) {
    it(`are limited by MEDIA_JOBS_FOR=${allowed}, and the response explains how`, async () => {
      const { service, record, end } = await startHeld({ MEDIA_JOBS_FOR: allowed })
      const refused = jsonOf(await ask(service, record, 'w=40'))
      expect(refused).to.include({ status: 403, code: 'media_jobs_not_allowed', allowed })
      expect(refused.detail).to.match(/Request .*(preset|transforms)/)
      expect((await ask(service, record, 'preset=tiny&w=41')).status).to.equal(403)
      expect((await ask(service, record, 'preset=tiny')).status).to.equal(byPreset)
      const form = [
        { disposition: 'name="transforms"', bytes: JSON.stringify(['w=30']) },
        { disposition: 'name="file"; filename="film.mp4"', bytes },
      ]
      const [own] = jsonOf(await postForm(service, form)) as unknown as [WireRecord]
      expect((await ask(service, own, 'w=30')).status).to.equal(423)
      end()
      await eventually(async () => expect((await ask(service, own, 'w=30')).status).to.equal(200))
    })
  }
})
