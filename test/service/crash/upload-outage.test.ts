import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { unavailable } from '../../../src/core/problem.ts'
import { listOf } from '../../contracts/file-index/file-index-model.ts'
import { pluginFolder, recorded, recorder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { inTime } from '../../support/promised.ts'
import { postFiles } from '../../support/requests/client.ts'
import { startService } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { withClock } from '../../support/stored/clock.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('an upload during an outage of the bucket', () => {
  itLong('is answered while the bucket is still busy deleting it', async () => {
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
    const answer = await inTime('the upload', postFiles(service, [{ name: 'a.txt', bytes: 'a' }]))
    expect(answer.status).to.equal(503)
    expect(await service.objects()).to.have.length(1)
    goOn()
    await eventually(async () => expect(await service.objects()).to.deep.equal([]))
    await service.stop()
  })

  for (const [what, isFailing] of Object.entries({
    'a file': (key: string) => !key.startsWith('.sluice/'),
    'a record': (key: string) => key.startsWith('.sluice/meta/'),
  })) {
    const itTried = what === 'a file' ? it : itLong
    itTried(`leaves no object though ${what} is stored after the delete: a sweep deletes again`, async () => {
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

  it('is forgotten at once when its last byte was never sent: no object can appear', async () => {
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

  /** A service whose index does what `answer` makes of the last step. */
  async function startWith(answer: (step: () => Promise<boolean>) => Promise<boolean>) {
    const clock = { aheadMs: 0 }
    const events = join(await temporaryFolder(), 'events')
    const plugins = await pluginFolder({ 'recorder.js': recorder(events) })
    const service = await startService({
      env: { PLUGINS_DIR: plugins },
      wrapStorage: (storage) => {
        const { index, buckets } = withClock(clock)(storage)
        return {
          buckets,
          index: { ...index, finishUpload: (...args) => answer(() => index.finishUpload(...args)) },
        }
      },
    })
    const told = async () => {
      await service.stop()
      const names = (await recorded(events))
        .map(({ name }) => name)
        .filter((name) => name.startsWith('original.'))
      for (const path of [dirname(events), plugins]) await rm(path, { recursive: true })
      return names
    }
    return { service, clock, told }
  }

  const noAnswer = unavailable('as of a Redis that is frozen')

  for (const [what, isCarriedOut] of Object.entries({ 'was carried out': true, 'was lost': false }))
    it(`is a 200, with one event, though the index has not answered the last step at first, which ${what}`, async () => {
      let asked = 0
      const { service, told } = await startWith(async (step) => {
        asked += 1
        if (asked > 2) return step()
        if (isCarriedOut) await step()
        throw noAnswer
      })
      expect((await postFiles(service, [{ name: 'a.txt', bytes: 'a' }])).status).to.equal(200)
      expect(await service.objects()).to.have.length(2)
      expect(await told()).to.deep.equal(['original.stored'])
    })

  it('is a 503 in time when the index never answers; a sweep finishes it and emits the event', async () => {
    const { service, clock, told } = await startWith(async (step) => {
      if (clock.aheadMs > 0) return step()
      throw noAnswer
    })
    const answer = await inTime('the upload', postFiles(service, [{ name: 'a.txt', bytes: 'a' }]))
    expect(answer.status).to.equal(503)
    clock.aheadMs = 60_000
    await service.app.sweep()
    const [entry] = Object.values(await listOf(service.storage.index)) as Array<{
      original: { state: string }
    }>
    expect(entry?.original.state).to.equal('stored')
    expect(await service.objects()).to.have.length(2)
    expect(await told()).to.deep.equal(['original.stored'])
  }).timeout(60_000)
})
