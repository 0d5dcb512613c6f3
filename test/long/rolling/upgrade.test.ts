import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { INDEX_LAYOUT } from '../../../src/core/storage/index-layout.ts'
import { inRedis } from '../../support/servers/on-redis.ts'
import { startRedis } from '../../support/servers/redis-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { buildAt, type Dyno, type Installation, install } from './installation.ts'

// Of the commits with the present layout of the index in Redis, the first one with the present packages. A new layout needs a later
// commit: processes of two layouts never run at the same time.
const OLD = 'e55b3b04'

describe(`long: an upgrade from ${OLD} and the way back, process by process`, function () {
  this.timeout(1_200_000)
  let installation: Installation
  let builds: string
  let old: string
  before(async () => {
    builds = await temporaryFolder()
    old = join(builds, 'old')
    await buildAt(OLD, old)
    // The old commit does not know a time limit in the URL of Redis.
    installation = await install({ webs: 4, redis: () => startRedis({ fails: true }) })
  })
  after(async () => {
    await installation.end()
    await rm(builds, { recursive: true })
  })

  it('fails no request and loses no file, and deletes are final', async () => {
    const { start } = installation
    const olds = () =>
      Promise.all([
        start({ type: 'web', place: 0, folder: old }),
        start({ type: 'web', place: 1, folder: old }),
        start({ type: 'worker', place: 0, folder: old }),
      ])
    const news = () =>
      Promise.all([
        start({ type: 'web', place: 2 }),
        start({ type: 'web', place: 3 }),
        start({ type: 'worker', place: 1 }),
      ])
    await installation.release(old)
    let before: Dyno[] = await olds()
    const load = await installation.load()
    await load.round()
    for (const next of [news, olds]) {
      await installation.release(next === olds ? old : undefined)
      const after = await next()
      // Both versions work at the same time.
      await load.round()
      const slow = await load.beginSlow()
      for (const dyno of before) await dyno.stop()
      await slow.ended
      await load.round()
      before = after
    }
    await load.stop()
    expect(load.busy.length, load.busy.join('\n')).to.be.below(10)
    expect(load.failures).to.deep.equal([])
    await load.compare()

    for (const dyno of before) await dyno.stop()
    await installation.fleet.sweptLater()
    expect(load.differences(await installation.fleet.state())).to.deep.equal([])
    expect(await installation.leftOnDisks()).to.deep.equal([])
    expect(await installation.findings()).to.deep.equal([])
  })

  it('is refused by both versions when a newer one has stored the index', async () => {
    const { redis } = installation.fleet
    await inRedis(redis.url, (client) => client.set('{sluice}:layout', INDEX_LAYOUT + 1))
    for (const folder of [undefined, old]) {
      const { ended, output } = await installation.run('web', 'web.0', folder)
      expect(await ended).to.equal(1)
      expect(output()).to.include(`layout ${INDEX_LAYOUT + 1} of a newer version`)
    }
  })
})
