import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { createPrograms } from '../../../src/engines/ffmpeg/installed.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('the search for the ffmpeg programs', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
    for (const name of ['first', 'second']) await mkdir(join(folder, name))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const missing = (PATH = `${join(folder, 'first')}:${join(folder, 'second')}`) =>
    createPrograms({ PATH }).missing()
  const program = (name: string, mode = 0o755) =>
    writeFile(join(folder, name), `#!/bin/sh\necho >> "${folder}/started"\n`, { mode })

  it('finds both in any folder of PATH, and starts neither', async () => {
    await program('first/ffprobe')
    await program('second/ffmpeg')
    expect(await missing()).to.deep.equal([])
    expect(await rejectionOf(rm(join(folder, 'started')))).to.equal('ENOENT')
  })

  it('names those that are missing, or are not executable', async () => {
    expect(await missing()).to.deep.equal(['ffmpeg', 'ffprobe'])
    expect(await missing('')).to.deep.equal(['ffmpeg', 'ffprobe'])
    await program('first/ffmpeg', 0o644)
    await program('second/ffprobe')
    expect(await missing()).to.deep.equal(['ffmpeg'])
  })

  it('finds an executable one behind one that is not executable', async () => {
    await program('first/ffprobe')
    await program('first/ffmpeg', 0o644)
    await program('second/ffmpeg')
    expect(await missing()).to.deep.equal([])
  })

  it('looks in the default folders when PATH is not set', async () => {
    expect(await createPrograms({}).missing()).to.deep.equal([])
  })
})

const rejectionOf = (work: Promise<unknown>) => work.then(String, ({ code }: NodeJS.ErrnoException) => code)
