import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { makeCredentials, readCredentials } from '../../src/adapters/credentials.ts'
import { DataDirError } from '../../src/adapters/disk/data-dir.ts'
import { rejection } from '../support/rejection.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { fileCalls, instead, systemError } from './calls.ts'

describe('the credentials file', () => {
  let folder: string
  let file: string

  beforeEach(async () => {
    folder = await temporaryFolder()
    file = join(folder, 'credentials.json')
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is created with new tokens, for its owner only, and no other file remains', async () => {
    const credentials = await makeCredentials(file)
    expect(credentials.clientToken).to.match(/^pub_[1-9A-HJ-NP-Za-km-z]{16,}$/)
    expect(credentials.secretClientToken).to.match(/^sec_[1-9A-HJ-NP-Za-km-z]{32,}$/)
    expect((await stat(file)).mode & 0o777).to.equal(0o600)
    expect(JSON.parse(await readFile(file, 'utf8'))).to.deep.equal(credentials)
    expect(await readdir(folder)).to.deep.equal(['credentials.json'])
  })

  it('is reused: the same tokens each time, and other ones in another folder', async () => {
    const first = await makeCredentials(file)
    const text = await readFile(file, 'utf8')
    expect(await readCredentials(file)).to.deep.equal(first)
    expect(await readFile(file, 'utf8')).to.equal(text)
    const other = await makeCredentials(join(folder, 'other.json'))
    expect(other.clientToken).to.not.equal(first.clientToken)
    expect(other.secretClientToken).to.not.equal(first.secretClientToken)
  })

  it('may be absent', async () => {
    expect(await readCredentials(file)).to.equal(undefined)
  })

  it('may be written by the operator', async () => {
    const mine = { clientToken: 'mine', secretClientToken: 'my secret' }
    await writeFile(file, JSON.stringify(mine))
    expect(await readCredentials(file)).to.deep.equal(mine)
  })

  for (const [what, text] of Object.entries({
    nothing: '',
    'no JSON': '{"clientToken": "pub_1", "secret',
    'another shape': '["pub_1", "sec_1"]',
    'no secret': '{"clientToken":"pub_1"}',
    'an empty token': '{"clientToken":"","secretClientToken":"sec_1"}',
    'a number': '{"clientToken":1,"secretClientToken":"sec_1"}',
    'more than it should': '{"clientToken":"pub_1","secretClientToken":"sec_1","extra":"sec_2"}',
  })) {
    it(`is named in the error when it contains ${what}, without its content, and stays unchanged`, async () => {
      await writeFile(file, text)
      const { message } = (await rejection(readCredentials(file))) as Error
      expect(message).to.include(file).and.include('clientToken')
      expect(message).to.not.match(/pub_1|sec_/)
      expect(await readFile(file, 'utf8')).to.equal(text)
    })
  }

  it('is not replaced when it cannot be read', async () => {
    const credentials = await makeCredentials(file)
    const error = await instead(
      'promises',
      'readFile',
      () => async () => {
        throw systemError('EACCES')
      },
      () => rejection(readCredentials(file)),
    )
    expect(error).to.have.property('code', 'EACCES')
    expect(await readCredentials(file)).to.deep.equal(credentials)
  })

  it('is on the disk, under its name, before the tokens are returned', async () => {
    expect(await fileCalls(folder, () => makeCredentials(file))).to.deep.equal([
      'flush credentials.json.tmp',
      'rename credentials.json.tmp credentials.json',
      'flush .',
    ])
  })

  it('is created again when a process died while creating it', async () => {
    await writeFile(`${file}.tmp`, '{"clientToken": "pub_', { mode: 0o644 })
    const credentials = await makeCredentials(file)
    expect(await readdir(folder)).to.deep.equal(['credentials.json'])
    expect((await stat(file)).mode & 0o777).to.equal(0o600)
    expect(await readCredentials(file)).to.deep.equal(credentials)
  })

  it('is complete or absent', async () => {
    const error = await instead(
      'promises',
      'rename',
      () => async () => {
        throw systemError('EIO')
      },
      () => rejection(makeCredentials(file)),
    )
    expect(error).to.be.instanceOf(DataDirError)
    expect((error as Error).cause).to.have.property('code', 'EIO')
    expect(await readdir(folder)).to.not.include('credentials.json')
  })
})
