import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { derivativeKey, type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { createSweep } from '../../../src/service/maintenance/sweep.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'
import { recordLog, startService } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const allFail = async (keys: readonly ObjectKey[]) => ({
  failed: keys.map((key) => ({ key, error: new Error('InternalError') })),
})

const SENT = 'a derivative was sent but not stored'

describe('bytes that a bucket fails to delete', () => {
  const start = stoppedAtTheEnd(startService)

  it('stay in the index when their original was deleted during the transformation, until a sweep deletes them', async () => {
    const dataDir = await temporaryFolder()
    let deleteOriginal: () => Promise<unknown> = async () => {}
    let refused = false
    const service = await start({
      dataDir,
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          if (!key.includes('_w=')) return bucket.put(key, bytes, options)
          await deleteOriginal()
          await bucket.put(key, bytes, options)
          refused = true
        },
        delete: (keys) => (refused ? allFail(keys) : bucket.delete(keys)),
      })),
    })
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    deleteOriginal = () => deleteFile(service, s3PathOriginal)
    expect((await fetch(`${src}?w=20`)).status).to.equal(200)
    await eventually(() => expect(refused).to.equal(true))
    await service.stop({ keepData: true })
    expect((await EMBEDDED.state(dataDir)).files).to.deep.equal([`first/${s3PathOriginal}_w=20`])

    // As when the deadline were over: that of a dead process counts as such.
    const next = await start({ dataDir })
    await next.app.sweep()
    await next.stop({ keepData: true })
    expect(await EMBEDDED.state(dataDir)).to.deep.equal({ files: [], rows: [] })
    await rm(dataDir, { recursive: true })
  })

  it('are known to a delete although a later attempt to render them has failed', async () => {
    let isAway = false
    const away = () => {
      throw unavailable('The storage backend does not respond.')
    }
    const service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          await bucket.put(key, bytes, options)
          // It is stored, but its answer is lost.
          if (key.includes('_w=')) away()
        },
        async find(key, known) {
          if (isAway && !key.includes('_w=')) away()
          return bucket.find(key, known)
        },
      })),
    })
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    expect((await fetch(`${src}?w=20`)).status).to.equal(200)
    await eventually(() => expect(service.log.lines.map(({ message }) => message)).to.include(SENT))
    isAway = true
    expect((await fetch(`${src}?w=20`)).status).to.equal(503)
    isAway = false
    expect((await deleteFile(service, s3PathOriginal)).status).to.equal(200)
    expect(await service.objects()).to.deep.equal([])
  })

  it('are deleted by a sweep when a put that has failed stores them after a delete', async () => {
    let late: (() => Promise<void>) | undefined
    const service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          if (late || !key.includes('_w=')) return bucket.put(key, bytes, options)
          const held = await buffer(bytes)
          late = () => bucket.put(key, Readable.from([held]), { mediaType: options.mediaType })
          throw unavailable('The storage backend does not respond.')
        },
      })),
    })
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const sent = () => service.log.lines.filter(({ message }) => message === SENT)
    expect((await fetch(`${src}?w=20`)).status).to.equal(200)
    await eventually(() => expect(sent()).to.have.length(1))
    // The next attempt is stored, so the index knows of none that is in progress.
    expect((await fetch(`${src}?w=20`)).status).to.equal(200)
    await eventually(async () => expect(await service.objects()).to.have.length(3))
    expect((await deleteFile(service, s3PathOriginal)).status).to.equal(200)
    await late?.()
    expect(await service.objects()).to.deep.equal([`first/${s3PathOriginal}_w=20`])
    const dataDir = service.dataDir
    await service.stop({ keepData: true })
    // Marks of a dead process are overdue at once.
    const next = await start({ dataDir })
    await next.app.sweep()
    expect(await next.objects()).to.deep.equal([])
  })

  it('stay in the index for the sweep that has to delete them', async () => {
    const original = storedKey('image/png/1111111111111111111111.png')
    const derivative = derivativeKey(original, 'w=20')
    const dropped: ObjectKey[] = []
    const index = {
      overdueChanges: async () => [],
      async *overdue() {
        yield { kind: 'derivative', ref: { clientId: 'first', key: original }, derivative, deadline: 1 }
      },
      finishDerivative: async () => false,
      dropDerivative: async (_ref, key) => void dropped.push(key),
      tidy: async () => 0,
    } satisfies Partial<FileIndex> as unknown as FileIndex
    let outcome: Bucket['delete'] = allFail
    const bucket = {
      find: async () => ({ size: 1, mediaType: 'image/png' }),
      delete: (keys: readonly ObjectKey[]) => outcome(keys),
    } as unknown as Bucket
    const log = recordLog()
    const sweep = createSweep({
      index,
      buckets: { of: () => bucket, ping: async () => {}, sweep: async () => 0 },
      clients: { find: (id: string) => ({ id, token: '' }) } as never,
      agree: async () => {},
      removals: {} as never,
      log,
    })
    expect(await sweep()).to.equal(0)
    expect(dropped).to.deep.equal([])
    expect(log.lines.map(({ level }) => level)).to.deep.equal(['warn'])
    outcome = async () => ({ failed: [] })
    expect(await sweep()).to.equal(1)
    expect(dropped).to.deep.equal([derivative])
  })
})
