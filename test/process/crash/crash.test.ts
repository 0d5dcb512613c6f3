import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { expect } from 'chai'
import { type Backend, EMBEDDED } from '../../support/backend.ts'
import { endLocks, S3_REDIS, type StartService, stoppedAtTheEnd } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { deleteFile, postFiles, uploadOne } from '../../support/requests/client.ts'
import { MULTIPART, multipart } from '../../support/requests/multipart.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { type Service, startService } from '../../support/service.ts'
import { withClock } from '../../support/stored/clock.ts'
import { type State, storedState } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SERVER = [await builtScript('crash-server')]
// More than a part of an upload to S3.
const PART_BYTES = 9 * 1024 * 1024
const VARIANT = 'f=webp&w=40'

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
  {
    by: 'another process',
    backend: S3_REDIS,
    async prepare(start, dataDir) {
      const clock = { aheadMs: 0 }
      const service = await start({ dataDir, backend: S3_REDIS, wrapStorage: withClock(clock) })
      await service.app.sweep()
      return async () => {
        // Ten minutes later, every lease and deadline of the dead one is over.
        clock.aheadMs = 600_000
        await endLocks(dataDir)
        await service.app.sweep()
        return service
      }
    },
  },
]

for (const repair of REPAIRS) {
  const { by, backend } = repair
  describe(`a killed process (${backend.name})`, function () {
    this.timeout(30_000)
    const start = stoppedAtTheEnd(startService)
    let dataDir: string
    let mend: () => Promise<Service>
    let server: RunningServer | undefined
    beforeEach(async () => {
      dataDir = await temporaryFolder()
      mend = await repair.prepare(start, dataDir)
    })
    afterEach(async () => {
      server?.child.kill('SIGKILL')
      await rm(dataDir, { recursive: true, force: true })
    })

    /** Starts a server that lives until it is killed, or dies at a step. */
    async function live(step?: string): Promise<RunningServer> {
      const crash = step === undefined ? {} : { CRASH_AT: step }
      const env = { ...(await backend.env(dataDir)), DATA_DIR: dataDir, ...crash }
      server = await startProcess({ script: SERVER, env })
      return server
    }

    /** Starts a server that dies at `step`, does `work` on it, and sees it dead. */
    async function dieAt(step: string, work: (server: RunningServer) => Promise<unknown>): Promise<void> {
      const server = await live(step)
      const worked = work(server).catch(() => {})
      // A step that is never reached leaves it alive, and this test waiting.
      expect(await server.ended).to.equal('SIGKILL')
      await worked
    }

    /** What there is when all that was left has been ended. */
    async function mended(): Promise<State> {
      await (await mend()).stop({ keepData: true })
      return backend.state(dataDir)
    }

    /** The state in which all that is in the bucket are so many stored originals. */
    async function storedUploads(count: number): Promise<State> {
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
    for (const step of uploadSteps) {
      it(`${step}: ${by} leaves no part of the upload`, async () => {
        const bytes = await picture()
        await dieAt(step, (server) => postFiles(server, [{ name: 'a.png', bytes }]))
        expect(await mended()).to.deep.equal({ files: [], rows: [] })
      })
    }

    it('within a large file, half of which is in the bucket: no part of it is left', async () => {
      const { url, tokens, child, ended } = await live()
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
      child.kill('SIGKILL')
      await ended
      expect(await mended()).to.deep.equal({ files: [], rows: [] })
    })

    // A record is the commit: an index that has lost a step looks the same as before the response.
    for (const step of ['after bucket.put record', 'before index.finishUpload', 'after index.finishUpload']) {
      it(`${step}: the file is stored, though its client got no response`, async () => {
        const bytes = await picture()
        await dieAt(step, (server) => postFiles(server, [{ name: 'a.png', bytes }]))
        expect(await mended()).to.deep.equal(await storedUploads(1))
      })
    }

    const formSteps = {
      'after bucket.put original': 0,
      // Those of a form come after all its bytes, one by one: the file whose record is there stays, whole.
      'before bucket.put record': 0,
      'within bucket.put record': 0,
      'after bucket.put record': 1,
      'before index.finishUpload': 2,
    }
    for (const [step, count] of Object.entries(formSteps)) {
      it(`${step}, of a form with two files: ${count} of them stored, and no other objects are left`, async () => {
        const bytes = await picture()
        const files = ['a.png', 'b.png'].map((name) => ({ name, bytes }))
        await dieAt(step, (server) => postFiles(server, files))
        expect(await mended()).to.deep.equal(await storedUploads(count))
      })
    }

    const deriveSteps: Record<string, string[]> = {
      'before index.beginDerivative': [],
      'after index.beginDerivative': [],
      'within bucket.put derivative': [],
      // The bytes are whole by then: a put is all or nothing.
      'after bucket.put derivative': [VARIANT],
      'after index.finishDerivative': [VARIANT],
    }
    for (const [step, variants] of Object.entries(deriveSteps)) {
      it(`${step}: ${by} retains the original and ${variants.length === 0 ? 'nothing else' : 'the derivative'}`, async () => {
        const bytes = await picture()
        let key = ''
        let path = ''
        await dieAt(step, async (server) => {
          const record = await uploadOne(server, { name: 'a.png', bytes })
          key = record.s3PathOriginal
          path = new URL(record.src).pathname
          const response = await fetch(`${server.url}${path}?w=40&f=webp`)
          await response.arrayBuffer()
        })
        expect(await mended()).to.deep.equal(storedState('first', { [key]: variants }))

        const again = await start({ dataDir, backend })
        expect((await fetch(`${again.url}${path}?w=40&f=webp`)).status).to.equal(200)
        await again.stop({ keepData: true })
        expect(await backend.state(dataDir)).to.deep.equal(storedState('first', { [key]: [VARIANT] }))
      })
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
    for (const step of deleteSteps) {
      it(`${step}: ${by} completes the delete`, async () => {
        const bytes = await picture()
        let path = ''
        let key = ''
        await dieAt(step, async (server) => {
          const record = await uploadOne(server, { name: 'a.png', bytes })
          key = record.s3PathOriginal
          path = new URL(record.src).pathname
          await fetch(`${server.url}${path}?w=40&f=webp`).then((response) => response.arrayBuffer())
          await deleteFile(server, key)
        })
        const service = await mend()
        expect((await fetch(`${service.url}${path}`)).status).to.equal(404)
        expect((await deleteFile(service, key)).status).to.equal(404)
        await service.stop({ keepData: true })
        expect(await backend.state(dataDir)).to.deep.equal({ files: [], rows: [] })
      })
    }

    it('before index.beginRemoval: nothing has been deleted', async () => {
      const bytes = await picture()
      let key = ''
      await dieAt('before index.beginRemoval', async (server) => {
        key = (await uploadOne(server, { name: 'a.png', bytes })).s3PathOriginal
        await deleteFile(server, key)
      })
      expect(await mended()).to.deep.equal(storedState('first', { [key]: [] }))
    })
  })
}
