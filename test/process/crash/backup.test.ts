import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import type { BackupReport, RestoreReport } from '../../../src/core/backup/report.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { operated } from '../../support/programs/operated.ts'
import { sluiceJson } from '../../support/programs/sluice.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { sized } from '../../support/sized.ts'
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

  async function killedAt(put: number, more: Record<string, string> = {}): Promise<void> {
    const env = { ...process.env, ...own.env, TARGET: target, KILLED_PUT: String(put), ...more }
    const running = spawn(process.execPath, [await builtScript('crash/backup')], { env, stdio: 'inherit' })
    expect(await once(running, 'exit')).to.deep.equal([null, 'SIGKILL'])
  }

  const filesOf = async (folder: string) =>
    (await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  it('leaves only whole objects and no manifest, and the next run copies the rest', async () => {
    const service = await own.start()
    for (let i = 0; i < FILES; i += 1) await uploadOne(service, { name: `${i}.txt`, bytes: `text ${i}` })
    for (const number of sized([4], [1, 4])) {
      await killedAt(number)
      expect(await filesOf(join(target, 'manifests'))).to.deep.equal([])
      for (const path of await filesOf(join(target, 'objects')))
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

  it('leaves only whole files when a restore is killed, and the next run restores the rest', async () => {
    const service = await own.start()
    for (let i = 0; i < FILES; i += 1) await uploadOne(service, { name: `${i}.txt`, bytes: `text ${i}` })
    await own.json('backup', target)
    const contents = async (dataDir: string) => {
      const bucket = join(dataDir, 'bucket', 'first')
      const found = new Map<string, string>()
      for (const path of await filesOf(bucket))
        found.set(path.slice(bucket.length), await readFile(path, 'utf8'))
      return found
    }
    const whole = await contents(own.dataDir)
    const DATA_DIR = await temporaryFolder()
    try {
      for (const put of sized([4], [1, 4])) {
        await killedAt(put, { DATA_DIR, RESTORE: 'yes' })
        for (const [path, text] of await contents(DATA_DIR)) expect(text, path).to.equal(whole.get(path))
      }
      const { restored, present } = await sluiceJson<RestoreReport>(['restore', target], { DATA_DIR })
      expect(restored + present).to.equal(FILES)
      expect(await contents(DATA_DIR)).to.deep.equal(whole)
    } finally {
      await rm(DATA_DIR, { recursive: true, force: true })
    }
  })
})
