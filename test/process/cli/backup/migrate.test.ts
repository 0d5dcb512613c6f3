import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { MigrationReport } from '../../../../src/core/backup/report.ts'
import { picture } from '../../../support/media/images.ts'
import { asCaller, operated } from '../../../support/programs/operated.ts'
import { sluice, sluiceJson, startSluice } from '../../../support/programs/sluice.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { s3Env } from '../../../support/servers/on-s3.ts'
import { startService } from '../../../support/service.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const pathOf = ({ src }: WireRecord) => src.slice(new URL(src).origin.length)

describe('sluice migrate', function () {
  this.timeout(90_000)
  const own = operated()
  let home: string
  beforeEach(async () => {
    home = await temporaryFolder()
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  it('moves a used service from a disk to S3, and from there to a disk, with uploads and deletes during the copy', async () => {
    const png = await picture()
    const service = await own.start()
    const image = await uploadOne(service, { name: 'a.png', bytes: png }, { path: 'Ä b' })
    const derivative = await exchange(service, `${pathOf(image)}?w=20`)
    const other = await uploadOne(asCaller(service, await own.newClient()), {
      name: 'b.txt',
      bytes: 'other client',
    })
    const deleted: WireRecord[] = []
    for (let i = 0; i < 5; i += 1)
      deleted.push(await uploadOne(service, { name: 'c.txt', bytes: `deleted ${i}` }))

    const s3 = await s3Env(`migrated-${process.pid}-${Date.now()}`)
    const env = {
      ...own.env,
      BACKUP_S3_ENDPOINT: s3.AWS_ENDPOINT_URL_S3,
      BACKUP_ACCESS_KEY_ID: s3.AWS_ACCESS_KEY_ID,
      BACKUP_SECRET_ACCESS_KEY: s3.AWS_SECRET_ACCESS_KEY,
    }
    const args = ['migrate', '--to', `s3://${s3.S3_BUCKET}/${s3.S3_PREFIX}`]
    const running = startSluice(args, env)
    const added: WireRecord[] = []
    for (const file of deleted) {
      added.push(
        await uploadOne(service, { name: 'd.txt', bytes: `added instead of ${file.s3PathOriginal}` }),
      )
      await deleteFile(service, file.s3PathOriginal)
    }
    const { code, stdout, stderr } = await running.ended
    expect(code, stderr).to.equal(0)
    expect(stdout).to.include(`S3_PREFIX=${s3.S3_PREFIX}\n`).and.to.not.include(s3.AWS_SECRET_ACCESS_KEY)
    await own.end(service)
    const secret = (await readFile(join(own.dataDir, 'app-secret'), 'utf8')).trim()
    const dryRun = ['import', home, '--dry-run']
    expect((await sluice(dryRun, { ...own.env, ...s3, APP_SECRET: secret })).code).to.equal(0)
    const last = await sluiceJson<MigrationReport>(args, env)
    expect(last).to.include({ isComplete: true, files: 7 })

    const moved = await startService({ env: { ...s3, APP_SECRET: secret }, dataDir: own.dataDir })
    try {
      for (const file of [image, other, ...added])
        expect((await exchange(moved, pathOf(file))).status).to.equal(200)
      for (const file of deleted) expect((await exchange(moved, pathOf(file))).status).to.equal(404)
      expect((await exchange(moved, `${pathOf(image)}?w=20`)).body.equals(derivative.body)).to.equal(true)
      expect((await sluice(['check'], { ...own.env, ...s3 })).code).to.equal(0)
    } finally {
      await moved.stop({ keepData: true })
    }

    // A service has used the target: a further run of the former command would undo its changes.
    const late = await sluice(args, env)
    expect(late.code).to.equal(1)
    expect(late.stderr).to.include('a service has used them since')

    const back = await sluice(['migrate', '--to', home], { ...own.env, ...s3 })
    expect(back.stdout, back.stderr).to.include(`DATA_DIR=${home}\n(without S3_BUCKET)\n`)
    const again = await startService({ env: { APP_SECRET: secret }, dataDir: home })
    try {
      expect((await exchange(again, pathOf(image))).body.equals(png)).to.equal(true)
      expect((await exchange(again, pathOf(other))).body.toString()).to.equal('other client')
    } finally {
      await again.stop({ keepData: true })
    }
  })
})
