import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'
import { listAll } from '../../support/stored/files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const COUNT = 30

describe('a damaged embedded index', () => {
  let filled: string
  let dataDir: string
  let records: WireRecord[]
  let service: Service | undefined
  before(async () => {
    filled = await temporaryFolder()
    const first = await startService({ dataDir: filled })
    records = []
    for (let i = 0; i < COUNT; i += 1)
      records.push(await uploadOne(first, { name: `${i}.txt`, bytes: `text ${i}` }))
    await first.stop({ keepData: true })
    // Only when it is opened again LevelDB makes a table of its log.
    await (await startService({ dataDir: filled })).stop({ keepData: true })
  })
  after(() => rm(filled, { recursive: true }))
  beforeEach(async () => {
    dataDir = await temporaryFolder()
    await cp(filled, dataDir, { recursive: true })
  })
  afterEach(async () => {
    await service?.stop()
    service = undefined
    await rm(dataDir, { recursive: true, force: true })
  })

  const files = async (store: string, pattern: RegExp) =>
    (await readdir(join(dataDir, store)))
      .filter((name) => pattern.test(name))
      .map((name) => join(dataDir, store, name))
  const change = async (pattern: RegExp, work: (path: string) => Promise<void>) => {
    const found = await files('index', pattern)
    expect(found).to.have.length.above(0)
    for (const path of found) await work(path)
  }

  const damages: Record<string, () => Promise<void>> = {
    'a missing table': () => change(/\.ldb$/, (path) => rm(path)),
    'a cut table': () => change(/\.ldb$/, (path) => truncate(path, 700)),
    'an empty manifest': () => change(/^MANIFEST/, (path) => truncate(path)),
    'a missing manifest': () => change(/^MANIFEST/, (path) => rm(path)),
    // Not in its blocks: LevelDB reads them without their checksums, and a key of less than eight bytes ends the process.
    'a table with other bytes at its end': () =>
      change(/\.ldb$/, async (path) => {
        const bytes = await readFile(path)
        for (let at = bytes.length - 48; at < bytes.length; at += 1) bytes[at] = (bytes[at] ?? 0) ^ 0xff
        await writeFile(path, bytes)
      }),
  }
  for (const [what, damage] of everyNth(4, Object.entries(damages)))
    it(`with ${what} was moved aside, and filled again from the bucket`, async () => {
      await damage()
      const running = await startService({ dataDir })
      service = running
      const answers = await Promise.all(
        records.map(async ({ src }) => {
          const response = await fetch(`${running.url}${new URL(src).pathname}`)
          return `${response.status} ${await response.text()}`
        }),
      )
      expect(answers).to.deep.equal(records.map((_, i) => `200 text ${i}`))
      await eventually(async () => expect(await listAll(running)).to.have.length(COUNT))
      expect((await command(running, 'check')).findings).to.deep.equal([])
      const [line, ...others] = running.log.lines.filter(({ level }) => level === 'error')
      expect(line?.message).to.include('the index was damaged and was moved aside')
      expect(others).to.deep.equal([])
      const aside = (await readdir(dataDir)).filter((name) => name.startsWith('index.damaged-'))
      expect(aside).to.deep.equal([String(line?.fields.movedTo).slice(dataDir.length + 1)])
      await uploadOne(running, { name: 'new.txt', bytes: 'new' })
    })

  it('is the only store that is replaced: the others have data that is in no bucket', async () => {
    for (const store of ['ledger', 'jobs']) {
      for (const path of await files(store, /^MANIFEST/)) {
        const before = await readFile(path)
        await truncate(path)
        const error = (await rejection(startService({ dataDir }))) as Error
        expect(error.message).to.include(`the ${store} in DATA_DIR ${dataDir} cannot be opened: Corruption`)
        await writeFile(path, before)
      }
    }
    service = await startService({ dataDir })
  })
})
