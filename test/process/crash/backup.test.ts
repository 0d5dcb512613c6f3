import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import type { BackupReport } from '../../../src/core/backup/report.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { operated } from '../../support/programs/operated.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const FILES = 5

describe('a backup that is killed', function () {
  this.timeout(60_000)
  const own = operated()
  let target: string
  beforeEach(async () => {
    target = await temporaryFolder()
  })
  afterEach(() => rm(target, { recursive: true, force: true }))

  async function killedAt(number: number): Promise<void> {
    const env = { ...process.env, ...own.env, TARGET: target, KILLED_OBJECT: String(number) }
    const running = spawn(process.execPath, [await builtScript('crash/backup')], { env, stdio: 'inherit' })
    expect(await once(running, 'exit')).to.deep.equal([null, 'SIGKILL'])
  }

  const filesOf = async (folder: string) =>
    (await readdir(join(target, folder), { recursive: true, withFileTypes: true }).catch(() => []))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  it('leaves only whole objects and no manifest, and the next run copies the rest', async () => {
    const service = await own.start()
    for (let i = 0; i < FILES; i += 1) await uploadOne(service, { name: `${i}.txt`, bytes: `text ${i}` })
    for (const number of [1, 4]) {
      await killedAt(number)
      expect(await filesOf('manifests')).to.deep.equal([])
      for (const path of await filesOf('objects'))
        expect(
          createHash('sha256')
            .update(await readFile(path))
            .digest('hex'),
        ).to.equal(basename(path))
    }
    const { backup, ...first } = await own.json<BackupReport>('backup', target)
    expect(backup).to.match(/^20/)
    expect(first).to.include({ files: FILES, new: FILES, damaged: 0, missing: 0 })
    expect(await own.json('backup', target, '--verify')).to.include({
      unchanged: FILES,
      copiedBytes: 0,
      damaged: 0,
    })
  })
})
