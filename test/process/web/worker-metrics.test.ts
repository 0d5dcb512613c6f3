import { join } from 'node:path'
import { expect } from 'chai'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { video } from '../../support/media/videos.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import { PROJECT } from '../../support/service.ts'

const WORKER = [join(PROJECT, 'dist', 'src', 'worker.js')]

describe('metrics of a worker', function () {
  this.timeout(120_000)
  let fleet: Fleet
  before(async () => {
    fleet = await newFleet({ files: 'disk' })
  })
  after(() => fleet.end())

  it('are served on METRICS_PORT, with a health check, and count its jobs', async () => {
    const web = await fleet.start()
    const worker = fleet.run({ script: WORKER, env: { METRICS_PORT: '0' } })
    let url = ''
    await eventually(() => {
      url = /"url":"(http:\/\/127\.0\.0\.1:\d+\/metrics)"/.exec(worker.output())?.[1] ?? ''
      expect(url, worker.output()).to.not.equal('')
    })
    const health = await fetch(new URL('/healthz', url))
    expect([health.status, await health.text()]).to.deep.equal([200, 'ok\n'])
    const { src } = await uploadOne(web, { name: 'film.mp4', bytes: await video() })
    await eventually(async () => expect((await fetch(`${src}?w=32&wait=10`)).status).to.equal(200), {
      withinMs: LONG_MS,
    })
    const made = (text: string) =>
      text.split('\n').filter((line) => /^sluice_[a-z_]+(\{.*\})? [1-9]/.test(line))
    await eventually(async () =>
      expect(made(await (await fetch(url)).text()).join('\n')).to.match(/video|media/),
    )
    worker.child.kill('SIGTERM')
    expect(await worker.ended, worker.output()).to.equal(0)
    const gone = await fetch(url).catch(() => undefined)
    expect(gone).to.equal(undefined)
  })
})
