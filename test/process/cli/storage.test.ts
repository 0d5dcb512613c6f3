import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { startCli } from '../../support/programs/cli.ts'
import { asCaller, isAccepted, type NewClient, operated } from '../../support/programs/operated.ts'
import { sluice, sluiceJson } from '../../support/programs/sluice.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { s3Server } from '../../support/servers/s3-server.ts'

describe('commands for the bucket of a client', () => {
  const own = operated()
  let png: Buffer
  before(async () => {
    png = await picture()
  })

  it('sets the own bucket of a client, and reads its secret key without showing it', async () => {
    const server = await own.start()
    const s3 = await s3Server()
    const { endpoint, credentials } = s3.connection
    const bucket = await s3.newBucket()
    const options = [
      '--bucket',
      bucket,
      '--endpoint',
      endpoint,
      '--path-style',
      '--access-key-id',
      credentials.accessKeyId,
    ]
    const withKey = (key: string) => ({ ...own.env, STORAGE_SECRET_ACCESS_KEY: key })
    const client = await own.newClient()
    const wrong = await sluice(['client', 'storage', client.id, ...options], withKey('wrong'))
    expect(wrong.code).to.equal(1)
    expect(wrong.stderr).to.match(/^sluice: the bucket cannot be used: .*SignatureDoesNotMatch/)
    const { child, ended } = startCli(
      ['client', 'storage', client.id, ...options, '--prefix', 'one'],
      own.env,
    )
    child.stdin?.end(`${credentials.secretAccessKey}\n`)
    const given = await ended
    expect(given).to.include({ code: 0, stderr: '' })
    expect(given.stdout).to.match(
      new RegExp(`^bucket +${bucket}, folder one/ at ${endpoint}, access key testkey$`, 'm'),
    )
    expect(given.stdout).to.not.include(credentials.secretAccessKey)
    const record = await uploadOne(asCaller(server, client), { name: 'a.png', bytes: png })
    expect(record.originalSrc).to.equal(`${endpoint}/${bucket}/one/${record.s3PathOriginal}`)
    expect(await own.json('check', '--client', client.id)).to.include({ originals: 1 })

    const other = await sluiceJson<NewClient & { storage: object }>(
      ['client', 'create', ...options, '--prefix', 'two'],
      withKey(credentials.secretAccessKey),
    )
    expect(other.storage).to.include({ bucket, prefix: 'two/' })
    expect(await isAccepted(asCaller(server, other))).to.equal(true)
    expect((await own.sluice('client', 'storage', client.id, '--default')).stderr).to.match(/has files/)
    for (const args of [[], ['--bucket', bucket], ['--default', ...options]])
      expect(
        (await sluice(['client', 'storage', client.id, ...args], withKey('x'))).code,
        args.join(' '),
      ).to.equal(2)
  })
})
