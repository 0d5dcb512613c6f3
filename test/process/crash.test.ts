import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { deleteFile, postFiles, uploadOne } from '../support/client.ts'
import { picture } from '../support/images.ts'
import { type RunningServer, startProcess } from '../support/process.ts'
import { PROJECT, type Service, startService } from '../support/service.ts'
import { readState, storedState } from '../support/state.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SERVER = ['--import=tsx', join(PROJECT, 'test', 'support', 'crash-server.ts')]
const VARIANT = 'f=webp&w=40'

/** Starts a server that dies at `step`, does `work` on it, and sees it dead. */
async function dieAt(
  step: string,
  dataDir: string,
  work: (server: RunningServer) => Promise<unknown>,
): Promise<void> {
  const server = await startProcess({ script: SERVER, env: { DATA_DIR: dataDir, CRASH_AT: step } })
  const worked = work(server).catch(() => {})
  // A step that is never reached leaves it alive, and this test waiting.
  expect(await server.ended).to.equal('SIGKILL')
  await worked
}

/** The next start, after its first sweep. */
async function restart(dataDir: string): Promise<Service> {
  const service = await startService({ dataDir })
  await service.app.sweep()
  return service
}

describe('a killed process', function () {
  this.timeout(30_000)
  let dataDir: string
  beforeEach(async () => {
    dataDir = await temporaryFolder()
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  const uploadSteps = [
    'before index.beginUpload',
    'after index.beginUpload',
    'within bucket.put original',
    'after bucket.put original',
    'within bucket.put record',
    'after bucket.put record',
  ]
  for (const step of uploadSteps) {
    it(`${step}: the next start leaves nothing of the upload`, async () => {
      const bytes = await picture()
      await dieAt(step, dataDir, (server) => postFiles(server, [{ name: 'a.png', bytes }]))
      await (await restart(dataDir)).stop({ keepData: true })
      expect(await readState(dataDir)).to.deep.equal({ files: [], rows: [] })
    })
  }

  it('after index.finishUpload: the file is stored, though its sender was not told', async () => {
    const bytes = await picture()
    await dieAt('after index.finishUpload', dataDir, (server) =>
      postFiles(server, [{ name: 'a.png', bytes }]),
    )
    await (await restart(dataDir)).stop({ keepData: true })
    const state = await readState(dataDir)
    const key = state.files.find((file) => !file.includes('.sluice'))?.replace('first/', '') ?? ''
    expect(state).to.deep.equal(storedState('first', { [key]: [] }))
  })

  it('after the second of two files: neither is left', async () => {
    const files = [
      { name: 'a.png', bytes: await picture() },
      { name: 'b.png', bytes: await picture() },
    ]
    await dieAt('before index.finishUpload', dataDir, (server) => postFiles(server, files))
    await (await restart(dataDir)).stop({ keepData: true })
    expect(await readState(dataDir)).to.deep.equal({ files: [], rows: [] })
  })

  const deriveSteps: Record<string, string[]> = {
    'before index.beginDerivative': [],
    'after index.beginDerivative': [],
    'within bucket.put derivative': [],
    // The bytes are whole by then: a put is all or nothing.
    'after bucket.put derivative': [VARIANT],
    'after index.finishDerivative': [VARIANT],
  }
  for (const [step, variants] of Object.entries(deriveSteps)) {
    it(`${step}: the next start keeps the original and ${variants.length === 0 ? 'nothing else' : 'the derivative'}`, async () => {
      const bytes = await picture()
      let key = ''
      let path = ''
      await dieAt(step, dataDir, async (server) => {
        const record = await uploadOne(server, { name: 'a.png', bytes })
        key = record.s3PathOriginal
        path = new URL(record.src).pathname
        const response = await fetch(`${server.url}${path}?w=40&f=webp`)
        await response.arrayBuffer()
      })
      const service = await restart(dataDir)
      await service.stop({ keepData: true })
      expect(await readState(dataDir)).to.deep.equal(storedState('first', { [key]: variants }))

      const again = await startService({ dataDir })
      expect((await fetch(`${again.url}${path}?w=40&f=webp`)).status).to.equal(200)
      await again.stop({ keepData: true })
      expect(await readState(dataDir)).to.deep.equal(storedState('first', { [key]: [VARIANT] }))
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
    it(`${step}: the next start ends the delete`, async () => {
      const bytes = await picture()
      let path = ''
      let key = ''
      await dieAt(step, dataDir, async (server) => {
        const record = await uploadOne(server, { name: 'a.png', bytes })
        key = record.s3PathOriginal
        path = new URL(record.src).pathname
        await fetch(`${server.url}${path}?w=40&f=webp`).then((response) => response.arrayBuffer())
        await deleteFile(server, key)
      })
      const service = await restart(dataDir)
      expect((await fetch(`${service.url}${path}`)).status).to.equal(404)
      expect((await deleteFile(service, key)).status).to.equal(404)
      await service.stop({ keepData: true })
      expect(await readState(dataDir)).to.deep.equal({ files: [], rows: [] })
    })
  }

  it('before index.beginRemoval: nothing has been deleted', async () => {
    const bytes = await picture()
    let key = ''
    await dieAt('before index.beginRemoval', dataDir, async (server) => {
      key = (await uploadOne(server, { name: 'a.png', bytes })).s3PathOriginal
      await deleteFile(server, key)
    })
    await (await restart(dataDir)).stop({ keepData: true })
    expect(await readState(dataDir)).to.deep.equal(storedState('first', { [key]: [] }))
  })
})
