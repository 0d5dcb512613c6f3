import { join } from 'node:path'
import { expect } from 'chai'
import { pluginFolder, recorded, recorder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { deleteFile, newClient, postFiles, uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { listAll } from '../../support/stored/files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('a form with a duplicate that is deleted meanwhile, when the copy of it cannot be stored', () => {
  let service: Service
  let events: string
  let deleteDuplicate: (() => Promise<unknown>) | undefined
  let isBroken = false

  before(async () => {
    events = join(await temporaryFolder(), 'events')
    const failing = wrapBuckets((bucket) => ({
      async put(key, ...more) {
        if (isBroken && key.startsWith('.sluice/')) throw new Error('no space')
        return bucket.put(key, ...more)
      },
    }))
    service = await startService({
      env: { PLUGINS_DIR: await pluginFolder({ 'recorder.js': recorder(events) }) },
      wrapStorage(storage) {
        const { buckets, index } = failing(storage)
        const finishUpload: typeof index.finishUpload = async (...args) => {
          const finished = await index.finishUpload(...args)
          await deleteDuplicate?.()
          return finished
        }
        return { buckets, index: { ...index, finishUpload } }
      },
    })
  })
  after(() => service.stop())

  it('fails, but the other file is stored, and its event is emitted', async () => {
    const client = await newClient(service)
    await service.app.clients.setRules(client.id, { dedupe: 'reuse' })
    const { s3PathOriginal } = await uploadOne(client, { name: 'a.txt', bytes: 'equal' })
    deleteDuplicate = async () => {
      deleteDuplicate = undefined
      await deleteFile(client, s3PathOriginal)
      isBroken = true
    }
    const files = ['equal', 'new'].map((bytes) => ({ name: 'b.txt', bytes }))
    expect((await postFiles(client, files)).status).to.equal(500)
    const [left, ...others] = await listAll(client)
    expect(others).to.deep.equal([])
    await eventually(async () =>
      expect(
        (await recorded(events))
          .filter(({ name }) => name === 'original.stored')
          .map(({ event }) => event.key),
      ).to.deep.equal([s3PathOriginal, left?.s3PathOriginal]),
    )
  })
})
