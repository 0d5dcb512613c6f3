import { expect } from 'chai'
import { unavailable } from '../../src/core/problem.ts'
import { postFiles } from '../support/client.ts'
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
})
