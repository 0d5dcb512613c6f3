import { chmod, chown, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { rejection } from '../../support/rejection.ts'
import { BUILT_SERVER, run } from '../../support/servers/process.ts'
import { type SmallDisk, smallDisk } from '../../support/servers/small-disk.ts'
import { startService } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const OWNER = 4321
const OTHER = 4322

describe('a start on a data folder that cannot be written to', () => {
  let disk: SmallDisk
  let folder: string
  before(async () => {
    disk = await smallDisk({ bytes: 1024 * 1024 })
    folder = await temporaryFolder()
    await chmod(folder, 0o755)
  })
  after(async () => {
    await disk.remove()
    await rm(folder, { recursive: true })
  })

  /** The whole output of a start that ends with exit code 1: one line, without the complaints of a library that finds no home. */
  async function failedStart(dataDir: string, as: readonly string[] = []): Promise<string> {
    const [program, ...before] = [...as, process.execPath]
    const env = { DATA_DIR: dataDir, PORT: '0', HOST: '127.0.0.1' }
    const running = run({ env, program: program as string, script: [...before, ...BUILT_SERVER] })
    expect(await running.ended, running.output()).to.equal(1)
    return running.output().replaceAll(/\nFontconfig error: .*\n(?:\t.*\n)*/g, '')
  }

  it('names the full disk', async () => {
    await disk.fill()
    try {
      const message = `DATA_DIR ${disk.folder} is on a full disk; free some space or set another DATA_DIR`
      expect(await rejection(startService({ dataDir: disk.folder }))).to.have.property('message', message)
      // As a process, this costs a second of CPU time.
      if (sized(false, true)) expect(await failedStart(disk.folder)).to.equal(`sluice: ${message}\n`)
    } finally {
      await disk.makeRoom()
    }
  })

  it('names the other user', async () => {
    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    await chown(dataDir, OWNER, OWNER)
    const as = ['setpriv', `--reuid=${OTHER}`, `--regid=${OTHER}`, '--clear-groups']
    for (const path of sized([dataDir], [dataDir, join(dataDir, 'inside')]))
      expect(await failedStart(path, as)).to.equal(
        `sluice: DATA_DIR ${path} cannot be written to by user ID ${OTHER}; give that user the folder and its files or set another DATA_DIR\n`,
      )
  })

  itLong('names the read-only file system', async () => {
    await disk.makeReadOnly()
    for (const path of [disk.folder, join(disk.folder, 'new')])
      expect(await failedStart(path)).to.equal(
        `sluice: DATA_DIR ${path} is on a read-only file system; mount it writable or set another DATA_DIR\n`,
      )
  })
})
