import { existsSync } from 'node:fs'
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { DISK_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const HOUR_S = 3600

describe('a partial write of an unknown process', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: DISK_REDIS, ...options }))

  it('is removed after 67 hours, at the start and by the command, which counts it separately', async () => {
    const dataDir = await temporaryFolder()
    const folder = join(dataDir, 'bucket', '.tmp')
    await mkdir(folder, { recursive: true })
    const halfWritten = async (name: string, hours: number) => {
      const path = join(folder, name)
      await writeFile(path, 'half')
      const at = Date.now() / 1000 - hours * HOUR_S
      await utimes(path, at, at)
      return path
    }
    const old = await halfWritten('old', 68)
    const young = await halfWritten('young', 66)
    const service = await start({ dataDir })
    await eventually(() => expect(existsSync(old)).to.equal(false))

    await halfWritten('old', 68)
    expect((await command(service, 'sweep')).answer).to.deep.equal({ ended: 0, halfWritten: 1 })
    expect([existsSync(old), existsSync(young)]).to.deep.equal([false, true])
    await service.stop({ keepData: true })
    await rm(dataDir, { recursive: true })
  })
})
