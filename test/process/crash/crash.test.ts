import { connect } from 'node:net'
import { expect } from 'chai'
import { type Backend, EMBEDDED } from '../../support/backend.ts'
import {
  endLocks,
  removeClusters,
  S3_CLUSTER,
  S3_REDIS,
  type StartService,
  stoppedAtTheEnd,
} from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { type Caller, deleteFile, postFiles, uploadOne } from '../../support/requests/client.ts'
import { MULTIPART, multipart } from '../../support/requests/multipart.ts'
import { crashPoints, isTriedOn } from '../../support/servers/crash-points.ts'
import { type Service, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { withClock } from '../../support/stored/clock.ts'
import { type State, storedState } from '../../support/stored/state.ts'

// More than a part of an upload to S3.
const PART_BYTES = 9 * 1024 * 1024
const VARIANT = 'f=webp&w=40'

// Steps after which index and bucket differ, and a put that is interrupted.
const S3_REDIS_STEPS = [
  'after index.beginUpload',
  'within bucket.put original',
  'after bucket.put original',
  'after bucket.put record',
  'after index.beginDerivative',
  'after bucket.put derivative',
  'after index.beginRemoval',
  'after bucket.delete original',
  'after bucket.delete record',
]

// Of each kind of work those that leave most.
const USUAL_STEPS = [
  'within bucket.put original',
  'after bucket.put record',
  'after bucket.put derivative',
  'after bucket.delete original',
]
const USUAL_STEPS_ON_S3 = ['after bucket.put record', 'after bucket.delete original']

/** Who ends what a dead process has left. */
interface Repair {
  by: string
  backend: Backend
  /** Called before there is anything to repair. @returns what does it */
  prepare(start: StartService, dataDir: string): Promise<() => Promise<Service>>
}

const REPAIRS: readonly Repair[] = [
  {
    by: 'the next start',
    backend: EMBEDDED,
    prepare: async (start, dataDir) => async () => {
      const service = await start({ dataDir })
      await service.app.sweep()
      return service
    },
  },
  byAnotherProcess(S3_REDIS),
  // Each step is in a cluster of its own. In `npm test`, partition.test.ts kills a command on one; a killed server is in the long run.
  ...sized([], [byAnotherProcess(S3_CLUSTER)]),
]

function byAnotherProcess(backend: Backend): Repair {
  return {
    by: 'another process',
    backend,
    async prepare(start, dataDir) {
      const clock = { aheadMs: 0 }
      const service = await start({ dataDir, backend, wrapStorage: withClock(clock) })
      await service.app.sweep()
      return async () => {
        // Ten minutes later, every lease and deadline of the dead one is over.
        clock.aheadMs = 600_000
        await endLocks(dataDir)
        await service.app.sweep()
        return service
      }
    },
  }
}

for (const repair of REPAIRS) {
  const { by, backend } = repair
  const tried = { onS3: S3_REDIS_STEPS, usual: USUAL_STEPS, usualOnS3: USUAL_STEPS_ON_S3 }
  const isTried = (step: string) => isTriedOn(backend, step, tried)
  describe(`a killed process (${backend.name})`, () => {
    const start = stoppedAtTheEnd(startService)
    let bytes: Buffer
    before(async () => {
      bytes = await picture()
    })
    after(removeClusters)
    const crash = crashPoints(backend)

    /** What ends what a dead process leaves in a data folder: called before there is anything to end. */
    const prepare = (dataDir: string) => repair.prepare(start, dataDir)

    async function mended(dataDir: string, mend: () => Promise<Service>): Promise<State> {
      await (await mend()).stop({ keepData: true })
      return backend.state(dataDir)
    }

    /** The state in which all that is in the bucket are so many stored originals. */
    async function storedUploads(dataDir: string, count: number): Promise<State> {
      const { files } = await backend.state(dataDir)
      const originals = files.filter((file) => !file.includes('.sluice'))
      expect(originals).to.have.length(count)
      return storedState(
        'first',
        Object.fromEntries(originals.map((file) => [file.replace('first/', ''), []])),
      )
    }

    const uploadSteps = [
      'before index.beginUpload',
      'after index.beginUpload',
      'within bucket.put original',
      'after bucket.put original',
      'within bucket.put record',
    ]
    for (const step of uploadSteps.filter(isTried)) {
      crash(`${step}: ${by} leaves no part of the upload`, {
        step,
        prepare,
        work: (server) => postFiles(server, [{ name: 'a.png', bytes }]),
        async test(dataDir, mend) {
          expect(await mended(dataDir, mend)).to.deep.equal({ files: [], rows: [] })
        },
      })
    }

    crash('within a large file, half of which is in the bucket: no part of it is left', {
      prepare: async (dataDir) => ({ dataDir, mend: await prepare(dataDir) }),
      async work({ url, tokens }, { dataDir }) {
        const { hostname, port } = new URL(url)
        const sending = connect(Number(port), hostname).on('error', () => {})
        sending.write(
          `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${tokens.secretClientToken}\r\n` +
            `Content-Type: ${MULTIPART}\r\nContent-Length: ${4 * PART_BYTES}\r\n\r\n`,
        )
        const file = multipart([
          { disposition: 'name="file"; filename="a.bin"', bytes: 'x'.repeat(2 * PART_BYTES) },
        ])
        sending.write(file.subarray(0, -100))
        await eventually(async () =>
          expect((await backend.objects(dataDir)).join()).to.match(/^(half of|\.tmp\/)/),
        )
      },
      async test(dataDir, { mend }) {
        expect(await mended(dataDir, mend)).to.deep.equal({ files: [], rows: [] })
      },
    })

    // A record is the commit: an index that has gone back a step looks the same, and then the sender has been told.
    const recordSteps = ['after bucket.put record', 'before index.finishUpload', 'after index.finishUpload']
    for (const step of recordSteps.filter(isTried)) {
      crash(`${step}: the file is stored, though its client got no response`, {
        step,
        prepare,
        work: (server) => postFiles(server, [{ name: 'a.png', bytes }]),
        async test(dataDir, mend) {
          expect(await mended(dataDir, mend)).to.deep.equal(await storedUploads(dataDir, 1))
        },
      })
    }

    const formSteps = {
      'after bucket.put original': 0,
      // Those of a form come after all its bytes, one by one: the file whose record is there stays, whole.
      'within bucket.put record': 0,
      'after bucket.put record': 1,
      'before index.finishUpload': 2,
    }
    for (const [step, count] of Object.entries(formSteps).filter(([step]) => isTried(step))) {
      crash(`${step}, of a form with two files: ${count} of them stored, and no other objects are left`, {
        step,
        prepare,
        work: (server) =>
          postFiles(server, [
            { name: 'a.png', bytes },
            { name: 'b.png', bytes },
          ]),
        async test(dataDir, mend) {
          expect(await mended(dataDir, mend)).to.deep.equal(await storedUploads(dataDir, count))
        },
      })
    }

    /** A file that is uploaded before the step is reached. */
    const withFile = async (dataDir: string) => ({ mend: await prepare(dataDir), key: '', path: '' })
    type WithFile = Awaited<ReturnType<typeof withFile>>
    async function upload(server: Caller, file: WithFile): Promise<void> {
      const record = await uploadOne(server, { name: 'a.png', bytes })
      file.key = record.s3PathOriginal
      file.path = new URL(record.src).pathname
    }
    const derive = async ({ url }: Caller, { path }: WithFile) => {
      const response = await fetch(`${url}${path}?w=40&f=webp`)
      await response.arrayBuffer()
      return response.status
    }

    const deriveSteps: Record<string, string[]> = {
      'before index.beginDerivative': [],
      'after index.beginDerivative': [],
      'within bucket.put derivative': [],
      // The bytes are whole by then: a put is all or nothing.
      'after bucket.put derivative': [VARIANT],
      'after index.finishDerivative': [VARIANT],
    }
    for (const [step, variants] of Object.entries(deriveSteps).filter(([step]) => isTried(step))) {
      crash(
        `${step}: ${by} retains the original and ${variants.length === 0 ? 'nothing else' : 'the derivative'}`,
        {
          step,
          prepare: withFile,
          async work(server, file) {
            await upload(server, file)
            await derive(server, file)
          },
          async test(dataDir, file) {
            const { mend, key } = file
            expect(await mended(dataDir, mend)).to.deep.equal(storedState('first', { [key]: variants }))

            const again = await start({ dataDir, backend })
            expect(await derive(again, file)).to.equal(200)
            await again.stop({ keepData: true })
            expect(await backend.state(dataDir)).to.deep.equal(storedState('first', { [key]: [VARIANT] }))
          },
        },
      )
    }

    const deleteSteps = [
      'after index.beginRemoval',
      'before bucket.delete original',
      'after bucket.delete original',
      'before bucket.delete derivative',
      'after bucket.delete derivative',
      'before bucket.delete record',
      'after bucket.delete record',
      'before index.finishRemoval',
      'after index.finishRemoval',
    ]
    for (const step of deleteSteps.filter(isTried)) {
      crash(`${step}: ${by} completes the delete`, {
        step,
        prepare: withFile,
        async work(server, file) {
          await upload(server, file)
          await derive(server, file)
          await deleteFile(server, file.key)
        },
        async test(dataDir, { mend, path, key }) {
          const service = await mend()
          expect((await fetch(`${service.url}${path}`)).status).to.equal(404)
          expect((await deleteFile(service, key)).status).to.equal(404)
          await service.stop({ keepData: true })
          expect(await backend.state(dataDir)).to.deep.equal({ files: [], rows: [] })
        },
      })
    }

    const untouched = 'before index.beginRemoval'
    if (isTried(untouched))
      crash(`${untouched}: nothing has been deleted`, {
        step: untouched,
        prepare: withFile,
        async work(server, file) {
          await upload(server, file)
          await deleteFile(server, file.key)
        },
        async test(dataDir, { mend, key }) {
          expect(await mended(dataDir, mend)).to.deep.equal(storedState('first', { [key]: [] }))
        },
      })
  })
}
