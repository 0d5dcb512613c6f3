import { mkdir, readdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import type { BackupReport, RestoreReport } from '../../../../src/core/backup/report.ts'
import { eventually } from '../../../support/eventually.ts'
import { picture } from '../../../support/media/images.ts'
import { asCaller, isAccepted, operated } from '../../../support/programs/operated.ts'
import { sluice, sluiceJson } from '../../../support/programs/sluice.ts'
import { deleteFile, signed, uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { s3Env } from '../../../support/servers/on-s3.ts'
import { type Service, startService } from '../../../support/service.ts'
import { setAlias } from '../../../support/stored/aliases.ts'
import { listAll } from '../../../support/stored/files.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const pathOf = ({ src }: WireRecord) => src.slice(new URL(src).origin.length)

describe('sluice backup and restore', function () {
  this.timeout(60_000)
  const own = operated()
  let target: string
  let png: Buffer
  before(async () => {
    png = await picture()
  })
  beforeEach(async () => {
    target = await temporaryFolder()
  })
  const restored: string[] = []
  const services: Service[] = []
  afterEach(async () => {
    for (const service of services.splice(0)) await service.stop()
    for (const folder of [target, ...restored.splice(0)]) await rm(folder, { recursive: true, force: true })
  })

  const backUp = (...args: string[]) => own.json<BackupReport>('backup', target, ...args)

  async function elsewhere(): Promise<{ DATA_DIR: string }> {
    const DATA_DIR = await temporaryFolder()
    restored.push(DATA_DIR)
    return { DATA_DIR }
  }

  /** Starts a service on restored files, with the secret that is not in the backup. */
  async function startOn(dataDir: string, env: Record<string, string> = {}): Promise<Service> {
    const secret = await readFile(join(own.dataDir, 'app-secret'), 'utf8')
    const service = await startService({ dataDir, env: { APP_SECRET: secret.trim(), ...env } })
    services.push(service)
    return service
  }

  const manifests = async () => (await readdir(join(target, 'manifests'))).sort()
  async function objects(): Promise<string[]> {
    const found = await readdir(join(target, 'objects'), { recursive: true })
    return found.filter((name) => name.includes('/')).map((name) => join(target, 'objects', name))
  }
  async function objectOf(bytes: Buffer | string): Promise<string> {
    for (const path of await objects()) if ((await readFile(path)).equals(Buffer.from(bytes))) return path
    throw new Error('the backup has no such object')
  }

  it('delivers the same bytes of all clients from another data folder, and copies only what is new', async () => {
    const service = await own.start()
    const image = await uploadOne(service, { name: 'Ö.png', bytes: png }, { path: 'shop' })
    expect((await exchange(service, `${pathOf(image)}?w=20`)).status).to.equal(200)
    const client = await own.newClient()
    const text = await uploadOne(asCaller(service, client), { name: 'a.txt', bytes: 'text' })
    expect(await backUp()).to.include({ files: 2, new: 2, unchanged: 0, missing: 0, damaged: 0 })
    const again = await uploadOne(service, { name: 'b.txt', bytes: 'text' })
    expect(await backUp('--verify')).to.include({ files: 3, new: 1, unchanged: 2, records: 1, verified: 6 })

    const env = await elsewhere()
    await rm(join(target, '.tmp'), { recursive: true })
    const report = await sluiceJson<RestoreReport>(['restore', target], env)
    expect(await readdir(target), 'a backup may be read-only').to.not.include('.tmp')
    expect(report).to.include({ files: 3, restored: 3, differs: 0 })
    expect(await sluiceJson(['restore', target], env)).to.include({ restored: 0, present: 3 })
    const copy = await startOn(env.DATA_DIR)
    expect(copy.tokens).to.deep.equal(service.tokens)
    for (const [file, bytes] of [
      [image, png],
      [text, Buffer.from('text')],
      [again, Buffer.from('text')],
    ] as const) {
      const { status, body, headers } = await exchange(copy, pathOf(file))
      expect(status).to.equal(200)
      expect(body.equals(bytes)).to.equal(true)
      expect(headers['content-disposition']).to.equal(
        (await exchange(service, pathOf(file))).headers['content-disposition'],
      )
    }
    expect((await sluice(['check'], env)).code).to.equal(0)
  })

  it('restores the files of an earlier backup, and expires old backups and what only they use', async () => {
    const service = await own.start()
    const file = await uploadOne(service, { name: 'a.txt', bytes: 'deleted by mistake' })
    const { backup } = await backUp()
    await deleteFile(service, file.s3PathOriginal)
    expect(await backUp('--keep', '30')).to.deep.include({
      files: 0,
      deleted: 1,
      expired: { backups: 0, objects: 0 },
    })
    expect(await own.json('restore', target)).to.include({ restored: 0 })
    expect(await own.lines('restore', target, '--list')).to.have.length(2)
    expect(await own.json('restore', target, '--at', backup)).to.include({ restored: 1, differs: 0 })
    await own.json('reindex')
    expect((await exchange(service, pathOf(file))).body.toString()).to.equal('deleted by mistake')

    const [oldest = ''] = await manifests()
    await rename(
      join(target, 'manifests', oldest),
      join(target, 'manifests', '2020-01-01T00-00-00.000Z.jsonl.gz'),
    )
    expect(await backUp('--keep', '30')).to.deep.include({ expired: { backups: 1, objects: 0 } })
    expect((await sluice(['restore', target, '--at', '2020-01-01'], own.env)).stderr).to.include(
      'no backup of this time',
    )
  })

  it('reports damaged and missing objects of a backup, and copies them again', async () => {
    const service = await own.start()
    await uploadOne(service, { name: 'a.txt', bytes: 'first' })
    await uploadOne(service, { name: 'b.txt', bytes: 'second' })
    await backUp()
    await writeFile(await objectOf('first'), 'fir5t')
    await unlink(await objectOf('second'))
    const { code, stdout } = await own.sluice('backup', target, '--verify')
    expect(code).to.equal(1)
    expect(stdout).to.match(/^damaged +objects\/\w\w\/\w{64} +\(another SHA-256\)$/m)
    expect(await objectOf('first')).to.be.a('string')
    expect(await objectOf('second')).to.be.a('string')
    expect(await backUp('--verify')).to.include({ damaged: 0, unchanged: 2 })
  })

  it('restores no damaged file, and replaces a file with other bytes only with --overwrite', async () => {
    const service = await own.start()
    const whole = await uploadOne(service, { name: 'a.txt', bytes: 'first' })
    const damaged = await uploadOne(service, { name: 'b.txt', bytes: 'second' })
    await backUp()
    await writeFile(await objectOf('second'), 'much longer than it was')
    const env = await elsewhere()
    const path = join(env.DATA_DIR, 'bucket', 'first', whole.s3PathOriginal)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, 'other')
    const refused = await sluice(['restore', target], env)
    expect(refused.code).to.equal(1)
    expect(refused.stdout)
      .to.match(new RegExp(`^differs +first +${whole.s3PathOriginal}$`, 'm'))
      .and.to.match(new RegExp(`^damaged +first +${damaged.s3PathOriginal} +\\(more than 6 bytes\\)$`, 'm'))
    expect(await readFile(path, 'utf8')).to.equal('other')
    expect((await sluice(['restore', target, '--overwrite'], env)).code).to.equal(1)
    expect(await readFile(path, 'utf8')).to.equal('first')
    expect(await readdir(join(path, '..'))).to.deep.equal([path.slice(path.lastIndexOf('/') + 1)])
  })

  it('keeps the good copy of a file that is damaged at the source, and reports one without a copy', async () => {
    const service = await own.start()
    const good = await uploadOne(service, { name: 'a.txt', bytes: 'first' })
    await backUp()
    const bad = await uploadOne(service, { name: 'b.txt', bytes: 'second' })
    for (const { s3PathOriginal } of [good, bad])
      await writeFile(join(own.dataDir, 'bucket', 'first', s3PathOriginal), 'other')
    const { code, stdout } = await own.sluice('backup', target)
    expect(code).to.equal(1)
    expect(stdout).to.match(new RegExp(`^damaged +first +${bad.s3PathOriginal} `, 'm'))
    expect(stdout).to.match(/^files +1, /m)
    expect(await objectOf('first')).to.be.a('string')
  })

  it('refuses manifests that are manipulated, incomplete or of a newer version, before it changes anything', async () => {
    const service = await own.start()
    await uploadOne(service, { name: 'a.txt', bytes: 'first' })
    await backUp()
    const path = join(target, 'manifests', (await manifests())[0] ?? '')
    const text = gunzipSync(await readFile(path)).toString()
    const lines = text.trimEnd().split('\n')
    const entry = JSON.parse(lines.find((line) => line.includes('/meta/')) ?? '')
    const env = await elsewhere()
    const manipulated: [string, string][] = [
      ['a path that leaves the folder', text.replaceAll('.sluice/meta/', '.sluice/meta/../../../')],
      ['an object that is no record', text.replaceAll('.sluice/meta/', '')],
      ['a client that is a path', text.replaceAll('"first"', '"../../etc"')],
      ['an absurd size', text.replace(`"size":${entry.size}`, '"size":1e300')],
      ['a digest that is a path', text.replace(entry.sha256, '../../../etc/passwd')],
      ['no end', lines.slice(0, -1).join('\n')],
      ['other numbers at its end', text.replace('"files":1', '"files":2')],
      ['no JSON', `${lines[0]}\n{`],
      ['a line without an end', `${lines[0]}\n${' '.repeat(100_000)}`],
    ]
    for (const [what, changed] of manipulated) {
      await writeFile(path, gzipSync(changed))
      const { code, stderr } = await sluice(['restore', target], env)
      expect(code, what).to.equal(1)
      expect(stderr, what).to.include('this manifest is damaged')
    }
    await writeFile(path, gzipSync(text.replace('"version":1', '"version":2')))
    expect((await sluice(['restore', target], env)).stderr).to.include('has the format 2')
    expect(await readdir(join(env.DATA_DIR, 'bucket'))).to.deep.equal(['.tmp'])
  })

  it('refuses a target in DATA_DIR, a folder that does not exist, and symbolic links in it', async () => {
    await own.end(await own.start())
    const refusal = async (path: string) => (await own.sluice('backup', path)).stderr
    expect(await refusal(join(own.dataDir, 'bucket'))).to.include('is in DATA_DIR')
    expect(await refusal(join(target, 'absent'))).to.include('is not a folder')
    await mkdir(join(target, 'objects'))
    await symlink(own.dataDir, join(target, 'objects', 'ab'))
    expect(await refusal(target)).to.include('is a symbolic link')
  })

  it('moves a whole installation from a disk by a bucket to S3, and from there by a folder to a disk', async () => {
    const service = await own.start()
    const owner = await own.newClient()
    const client = asCaller(service, owner)
    const { urlKey } = await own.json<{ urlKey: { key: string; version: number } }>(
      ...['client', 'key', 'add', owner.id],
    )
    await own.json('client', 'set', owner.id, '--private-folders', 'hidden')
    const image = await uploadOne(service, { name: 'a.png', bytes: png }, { path: 'shop/Ä' })
    const hidden = await uploadOne(client, { name: 'b.txt', bytes: 'hidden text' }, { path: 'hidden' })
    const alias = new URL((await setAlias(service, 'news/today.png', image.s3PathOriginal)).src).pathname

    async function expectSame(copy: Service): Promise<void> {
      expect(copy.tokens).to.deep.equal(service.tokens)
      expect((await exchange(copy, pathOf(image))).body.equals(png)).to.equal(true)
      expect((await exchange(copy, `${pathOf(image)}?w=20`)).status).to.equal(200)
      expect((await exchange(copy, alias)).body.equals(png)).to.equal(true)
      const { pathname } = new URL(hidden.src)
      expect((await exchange(copy, pathname)).status).to.equal(403)
      expect((await exchange(copy, signed(pathname, urlKey))).body.toString()).to.equal('hidden text')
      for (const [caller, file] of [
        [copy, image],
        [asCaller(copy, owner), hidden],
      ] as const)
        await eventually(async () =>
          expect((await listAll(caller)).map(({ s3PathOriginal }) => s3PathOriginal)).to.include(
            file.s3PathOriginal,
          ),
        )
      expect(await isAccepted(asCaller(copy, owner))).to.equal(true)
    }
    await expectSame(service)

    const { S3_BUCKET, ...connection } = await s3Env('unused')
    const env = {
      BACKUP_S3_ENDPOINT: connection.AWS_ENDPOINT_URL_S3,
      BACKUP_ACCESS_KEY_ID: connection.AWS_ACCESS_KEY_ID,
      BACKUP_SECRET_ACCESS_KEY: connection.AWS_SECRET_ACCESS_KEY,
    }
    const place = `s3://${S3_BUCKET}/backup-${process.pid}-${Date.now()}`
    const run = await sluiceJson<BackupReport>(['backup', place, '--verify'], { ...own.env, ...env })
    expect(run).to.include({ files: 3, new: 3 })
    const onS3 = await s3Env(`restored-${process.pid}-${Date.now()}`)
    const overlapping = await sluice(['restore', `s3://${S3_BUCKET}/${onS3.S3_PREFIX}`], {
      ...onS3,
      ...(await elsewhere()),
    })
    expect(overlapping.stderr).to.include('has files of this installation')
    const { DATA_DIR } = await elsewhere()
    expect(await sluiceJson(['restore', place], { ...onS3, ...env, DATA_DIR })).to.include({ restored: 3 })
    await expectSame(await startOn(DATA_DIR, onS3))

    expect(await sluiceJson(['backup', target], { ...onS3, DATA_DIR })).to.include({ files: 4 })
    const onDisk = await elsewhere()
    expect(await sluiceJson(['restore', target], onDisk)).to.include({ restored: 4 })
    await expectSame(await startOn(onDisk.DATA_DIR))
  })
})
