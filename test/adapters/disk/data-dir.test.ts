import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  DATA_LAYOUT,
  DataDirError,
  dataDirTaken,
  makeDataDir,
  openDataDir,
  signDataDir,
} from '../../../src/adapters/disk/data-dir.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('the data folder', () => {
  let above: string
  let folder: string

  beforeEach(async () => {
    above = await temporaryFolder()
    folder = join(above, 'a', 'data')
  })
  afterEach(() => rm(above, { recursive: true }))

  it('is created for its owner only, with its parent folders, and may exist already', async () => {
    await makeDataDir(folder)
    expect((await stat(folder)).mode & 0o777).to.equal(0o700)
    await writeFile(join(folder, 'kept'), 'x')
    await makeDataDir(folder)
    expect(await readFile(join(folder, 'kept'), 'utf8')).to.equal('x')
  })

  it('of a newer version is refused, with the number of its layout', async () => {
    await openDataDir(folder)
    await signDataDir(folder, 'http://localhost:3000')
    await openDataDir(folder)
    const holder = join(folder, 'holder.json')
    const signed = JSON.parse(await readFile(holder, 'utf8'))
    expect(signed.layout).to.equal(DATA_LAYOUT)
    await writeFile(holder, JSON.stringify({ ...signed, layout: DATA_LAYOUT + 1 }))
    const error = await rejection(openDataDir(folder))
    expect(error).to.be.instanceOf(DataDirError)
    expect(String(error)).to.include(`layout ${DATA_LAYOUT + 1} of a newer version`)
    for (const text of ['', '{', 'null', '{"pid":1}']) {
      await writeFile(holder, text)
      await openDataDir(folder)
    }
  })

  it('is named when it cannot be created', async () => {
    await writeFile(join(above, 'a'), 'a file')
    const error = (await rejection(makeDataDir(folder))) as Error
    expect(error).to.be.instanceOf(DataDirError)
    expect(error.message).to.include(`DATA_DIR ${folder}`)
    expect(error.cause).to.have.property('code', 'ENOTDIR')
  })

  it('names the process that uses it to a second process', async () => {
    await makeDataDir(folder)
    const start = Date.now()
    await signDataDir(folder, 'http://localhost:3000')
    const cause = new Error('locked')
    const error = await dataDirTaken(folder, cause)
    expect(error).to.be.instanceOf(DataDirError)
    expect(error.cause).to.equal(cause)
    expect(error.message).to.include(`DATA_DIR ${folder} is in use by process ${process.pid}, `)
    expect(error.message).to.include('at http://localhost:3000 since ')
    const since = /since (\S+);/.exec(error.message)?.[1] ?? ''
    expect(Date.parse(since)).to.be.within(start - 1000, Date.now() + 1000)
  })

  it('is signed by each process that uses it, in a file for its owner only', async () => {
    await makeDataDir(folder)
    await signDataDir(folder, 'http://localhost:3000')
    await signDataDir(folder, 'http://localhost:4000')
    const { message } = await dataDirTaken(folder, undefined)
    expect(message).to.include('http://localhost:4000').and.not.include('localhost:3000')
    expect((await stat(join(folder, 'holder.json'))).mode & 0o777).to.equal(0o600)
  })

  for (const [what, text] of Object.entries({
    'has not signed yet': undefined,
    'is just signing': '{"pid": 12',
    'has signed with nothing': 'null',
  })) {
    it(`names "another process" when the file of that process ${what}`, async () => {
      await makeDataDir(folder)
      if (text !== undefined) await writeFile(join(folder, 'holder.json'), text)
      const { message } = await dataDirTaken(folder, undefined)
      expect(message).to.include('is in use by another process;')
    })
  }
})
