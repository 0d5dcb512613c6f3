import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { picture } from '../../support/media/images.ts'
import { asCaller, isAccepted, operated } from '../../support/programs/operated.ts'
import { sluice } from '../../support/programs/sluice.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'

describe('commands for a data folder', () => {
  const own = operated()
  let png: Buffer
  before(async () => {
    png = await picture()
  })

  it('prints errors, one per line, with exit code 1', async () => {
    const server = await own.start()
    const { s3PathOriginal } = await uploadOne(server, { name: 'a.png', bytes: png })
    expect((await own.sluice('check')).stdout).to.include('bucket and index agree')
    await rm(join(own.dataDir, 'bucket', 'first', recordKey(storedKey(s3PathOriginal))))
    const { code, stdout, stderr } = await own.sluice('check')
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' })
    expect(stdout).to.match(new RegExp(`^record missing +first +${s3PathOriginal}$`, 'm'))
    expect(stdout).to.match(/^1 {2}record missing {2}the bytes are in the bucket/m)
    expect(stdout).to.not.include('agree')
    const json = await own.lines('check', '--json')
    expect(json.map((line) => JSON.parse(line))).to.deep.equal([
      { finding: { kind: 'record missing', clientId: 'first', key: s3PathOriginal } },
      {
        originals: 1,
        derivatives: 0,
        others: 0,
        inProgress: 0,
        findings: { 'record missing': 1 },
      },
    ])
  })

  it('opens the data folder itself, and leaves it usable for a server', async () => {
    const server = await own.start()
    const { s3PathOriginal } = await uploadOne(server, { name: 'a.png', bytes: png })
    await own.end(server)
    expect(await own.lines('client', 'list')).to.have.length(2)
    expect(await own.json('check')).to.include({ originals: 1 })
    const client = await own.newClient()
    const next = await own.start()
    expect(await isAccepted(asCaller(next, client))).to.equal(true)
    expect((await deleteFile(next, s3PathOriginal)).status).to.equal(200)
  })

  it('fills a lost index', async () => {
    const server = await own.start()
    await uploadOne(server, { name: 'a.png', bytes: png })
    await own.end(server)
    await rm(join(own.dataDir, 'index'), { recursive: true })
    // A server would fill it at its start.
    await mkdir(join(own.dataDir, 'index'))
    expect((await own.sluice('check')).code).to.equal(1)
    const { code, stdout } = await own.sluice('reindex')
    expect(code).to.equal(0)
    expect(stdout).to.match(/^originals +0 +1 +0$/m)
    expect((await own.sluice('check')).code).to.equal(0)
  })

  it('creates nothing where there is no data', async () => {
    const nowhere = join(own.dataDir, 'nowhere')
    const { code, stderr } = await sluice(['client', 'list'], { DATA_DIR: nowhere })
    expect(code).to.equal(1)
    expect(stderr).to.include(nowhere).and.include('DATA_DIR')
    expect(existsSync(nowhere)).to.equal(false)
  })

  it('names every invalid environment variable', async () => {
    const { code, stderr } = await sluice(['check'], { ...own.env, PORT: 'x', LOG_LEVEL: 'loud' })
    expect(code).to.equal(1)
    expect(stderr).to.include('PORT').and.include('LOG_LEVEL')
  })
})
