import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { mutated } from '../../support/media/mutated.ts'
import { NO_LIMITS } from '../../support/no-limits.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

// Python writes any name, and one that is not ASCII as UTF-8.
const ODD_NAMES = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as out:
    out.writestr('../outside.txt', 'x')
    out.writestr('ä\\x1b[31mb.txt', 'y' * 1000)
    for i in range(1100):
        out.writestr(f'many/{i}.txt', str(i))
`

onOneOrTwoBackends('information about a ZIP', (start, _) => {
  let service: Service
  let folder: string
  before(async () => {
    service = await start({ env: NO_LIMITS })
    folder = await temporaryFolder()
    await writeFile(join(folder, 'größe.txt'), 'hello '.repeat(100))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function infoOf(bytes: Buffer, name = 'a.zip') {
    const { src } = await uploadOne(service, { name, bytes })
    const answer = await exchange(service, src.replace('/upload/', '/info/'))
    expect(answer.status, answer.body.toString()).to.equal(200)
    return jsonOf(answer)
  }

  async function packed(...options: string[]): Promise<Buffer> {
    const target = join(folder, 'packed.zip')
    await rm(target, { force: true })
    await run('7z', ['a', '-tzip', ...options, target, 'größe.txt'], { cwd: folder })
    return readFile(target)
  }

  it('lists its entries, also as another file of that kind', async () => {
    for (const name of ['a.zip', 'a.cbz']) {
      const { entryCount, entries } = await infoOf(await packed(), name)
      expect(entryCount).to.equal(1)
      const [entry] = entries as Array<{ compressedSize: number }>
      expect(entry).to.include({ name: 'größe.txt', size: 600 })
      expect(entry?.compressedSize).to.be.within(5, 60)
      expect(entry).to.not.have.property('encrypted')
    }
  })

  it('marks encrypted entries', async () => {
    const { entries } = await infoOf(await packed('-psecret'))
    expect((entries as unknown[])[0]).to.include({ name: 'größe.txt', encrypted: true })
  })

  it('has the first 1000 entries, with safe names', async () => {
    const file = join(folder, 'odd.zip')
    await run('python3', ['-c', ODD_NAMES, file])
    const { entryCount, entries } = await infoOf(await readFile(file))
    expect(entryCount).to.equal(1102)
    const names = (entries as Array<{ name: string }>).map(({ name }) => name)
    expect(names).to.have.length(999)
    expect(names.slice(0, 2)).to.deep.equal(['ä\ufffd[31mb.txt', 'many/0.txt'])
  })

  it('lacks the entries when the archive is corrupt', async function () {
    this.timeout(sized(60_000, 600_000))
    const bytes = await packed()
    for (const broken of [
      bytes.subarray(0, bytes.length - 10),
      Buffer.from(bytes).fill(0xff, bytes.length - 10),
    ]) {
      const known = await infoOf(broken)
      expect(known).to.include({ format: 'zip' }).and.not.have.any.keys('entries', 'entryCount')
    }
    for (const broken of mutated([bytes], { count: sized(10, 2000), spared: 40 }))
      expect(await infoOf(broken)).to.include({ format: 'zip' })
  })
})
