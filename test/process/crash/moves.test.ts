import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { endLocks, S3_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { crashedBackends, crashPoints, isTriedOn, preparedOnce } from '../../support/servers/crash-points.ts'
import { startService } from '../../support/service.ts'
import { withClock } from '../../support/stored/clock.ts'
import { listAll } from '../../support/stored/files.ts'
import { copiedOrMoved } from '../../support/stored/moves.ts'
import { settled } from '../../support/stored/settled.ts'

type Left = 'source' | 'both' | 'moved'

/** What remains of a move after a death at each step. */
const STEPS: Readonly<Record<string, Left>> = {
  'before index.beginUpload': 'source',
  'after index.beginUpload': 'source',
  'after bucket.copy original': 'source',
  'after bucket.put redirect': 'source',
  'after bucket.put record': 'both',
  'after index.finishUpload': 'both',
  'after index.beginRemoval': 'moved',
  'after bucket.delete original': 'moved',
  'after bucket.delete derivative': 'moved',
  'after bucket.delete record': 'moved',
  'after index.finishRemoval': 'moved',
}
const COUNT: Readonly<Record<Left, number>> = { source: 1, both: 2, moved: 1 }
const TITLES: Readonly<Record<Left, string>> = {
  source: 'only the file at its old path',
  both: 'both files',
  moved: 'only the file at its new path, and the redirect',
}

// One for each outcome. In `npm test`, the one that leaves two files.
const FEW_STEPS = ['after bucket.put redirect', 'after bucket.put record', 'after index.beginRemoval']

for (const backend of crashedBackends(EMBEDDED, S3_REDIS))
  describe(`a process killed while it moves a file (${backend.name})`, () => {
    const start = stoppedAtTheEnd((options) => startService({ backend, ...options }))
    let png: Buffer
    before(async () => {
      png = await picture()
    })
    const crash = crashPoints(backend)

    async function uploaded(dataDir: string): Promise<WireRecord> {
      const service = await start({ dataDir })
      const record = await uploadOne(service, { name: 'a.png', bytes: png }, { path: 'a' })
      await exchange(service, `${new URL(record.src).pathname}?w=10`)
      await settled(service)
      await service.stop({ keepData: true })
      return record
    }

    const prepare = backend === EMBEDDED ? preparedOnce(uploaded) : uploaded
    const isTried = (step: string) =>
      isTriedOn(backend, step, { onS3: FEW_STEPS, usual: ['after bucket.put record'] })
    for (const [step, left] of Object.entries(STEPS).filter(([step]) => isTried(step)))
      crash(`${step}: leaves ${TITLES[left]}`, {
        step,
        prepare,
        // One that fails is tried again.
        work: (dying, { s3PathOriginal: from }) =>
          copiedOrMoved(dying, 'move', { from, to: 'b', redirect: '1d' }),
        async test(dataDir, { src, s3PathOriginal }) {
          await endLocks(dataDir)
          const clock = { aheadMs: 0 }
          const service = await start({ dataDir, wrapStorage: withClock(clock) })
          const path = new URL(src).pathname
          const isMoved = left === 'moved'
          expect((await exchange(service, path)).status).to.equal(isMoved ? 308 : 200)
          // Joins the sweep of the start.
          await service.app.sweep()
          // Ten minutes later, every lease of the dead process is over.
          clock.aheadMs = 600_000
          await service.app.sweep()

          const files = await listAll(service)
          expect(files).to.have.length(COUNT[left])
          const isAtSource = files.some((file) => file.s3PathOriginal === s3PathOriginal)
          expect(isAtSource).to.equal(!isMoved)
          const followed = await fetch(`${service.url}${path}`)
          expect(Buffer.from(await followed.arrayBuffer()).equals(png)).to.equal(true)
          for (const file of files) {
            const { body } = await exchange(service, new URL(file.src).pathname)
            expect(body.equals(png)).to.equal(true)
          }
          const originals = (await service.objects()).filter((name) => /\.png$/.test(name))
          expect(originals).to.have.length(COUNT[left])
          expect((await command(service, 'check', { digests: true })).findings).to.deep.equal([])
          await service.stop()
        },
      })
  })
