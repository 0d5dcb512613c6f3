import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { unavailable } from '../../src/core/problem.ts'
import { listOf } from '../contracts/file-index-model.ts'
import { postFiles } from '../support/client.ts'
import { withClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'
import { wrapBuckets } from '../support/storage.ts'

describe('an upload that the bucket fails', () => {
  it('is answered while the bucket is still busy with taking it back', async () => {
    let goOn = () => {}
    const held = new Promise<void>((done) => {
      goOn = done
    })
    const wrapStorage = wrapBuckets((bucket) => ({
      async put(key, bytes, options) {
        if (key.startsWith('.sluice/clients/')) return bucket.put(key, bytes, options)
        await bucket.put(key, bytes, options)
        throw unavailable('as after an outage')
      },
      async delete(keys) {
        await held
        return bucket.delete(keys)
      },
    }))
    const service = await startService({ wrapStorage })
    const from = performance.now()
    expect((await postFiles(service, [{ name: 'a.txt', bytes: 'a' }])).status).to.equal(503)
    expect(performance.now() - from).to.be.below(1500)
    expect(await service.objects()).to.have.length(1)
    goOn()
    await eventually(async () => expect(await service.objects()).to.deep.equal([]))
    await service.stop()
  })

  for (const [what, isFailing] of Object.entries({
    'a file': (key: string) => !key.startsWith('.sluice/'),
    'a record': (key: string) => key.startsWith('.sluice/meta/'),
  })) {
    it(`leaves nothing though ${what} lands after it was taken back: a sweep deletes once more`, async () => {
      let land = async () => {}
      const clock = { aheadMs: 0 }
      const wrapPuts = wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          if (!isFailing(key)) return bucket.put(key, bytes, options)
          const sent = await buffer(bytes)
          land = () => bucket.put(key, Readable.from([sent]), { mediaType: options.mediaType })
          throw unavailable('no answer in time')
        },
      }))
      const service = await startService({ wrapStorage: (storage) => wrapPuts(withClock(clock)(storage)) })
      expect((await postFiles(service, [{ name: 'a.txt', bytes: 'a' }])).status).to.equal(503)
      expect(await service.objects()).to.deep.equal([])
      await land()
      expect(await service.objects()).to.have.length(1)
      await service.app.sweep()
      expect(await service.objects(), 'too early').to.have.length(1)
      clock.aheadMs = 60_000
      await service.app.sweep()
      expect(await service.objects()).to.deep.equal([])
      expect(await listOf(service.storage.index)).to.deep.equal({})
      await service.stop()
    })
  }

  it('is forgotten at once when its last byte was never sent: nothing can land', async () => {
    const wrapStorage = wrapBuckets((bucket) => ({
      async put(key, bytes, options) {
        if (key.startsWith('.sluice/')) return bucket.put(key, bytes, options)
        bytes.destroy()
        throw unavailable('no answer in time')
      },
    }))
    const service = await startService({ wrapStorage })
    expect((await postFiles(service, [{ name: 'a.txt', bytes: 'a' }])).status).to.equal(503)
    expect(await listOf(service.storage.index)).to.deep.equal({})
    await service.stop()
  })
})
