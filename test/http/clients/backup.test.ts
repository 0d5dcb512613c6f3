import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stoppedAfterEach } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { s3Env } from '../../support/servers/on-s3.ts'
import { type Service, startService } from '../../support/service.ts'
import { everyNth, itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// As docs/how-to/backup-and-recovery.md has it: the bucket and APP_SECRET are the backup.
describe('restoring a backup of the bucket', () => {
  const start = stoppedAfterEach(startService)
  let png: Buffer
  let restored: string
  before(async () => {
    png = await picture()
  })

  beforeEach(async () => {
    restored = await temporaryFolder()
  })
  afterEach(() => rm(restored, { recursive: true, force: true }))

  /** Copies files while the service runs, without the index and without other files of the folder. */
  async function backUp({ dataDir }: Service, files: readonly string[]): Promise<void> {
    for (const file of files) await cp(join(dataDir, file), join(restored, file), { recursive: true })
  }

  const pathOf = (url: string) => url.slice(new URL(url).origin.length)

  async function signedLink(service: Caller): Promise<string> {
    const { body } = await ask(service, '/v1/sign', { method: 'POST', json: { expiresIn: 600 } })
    return pathOf((body as { url: string }).url)
  }

  it('gives the same URLs, tokens and signed links with app-secret', async () => {
    const service = await start()
    const record = await uploadOne(service, { name: 'a.png', bytes: png })
    const link = await signedLink(service)
    await backUp(service, ['bucket', 'app-secret'])
    const again = await start({ dataDir: restored })
    expect(again.tokens).to.deep.equal(service.tokens)
    const file = JSON.parse(await readFile(join(restored, 'credentials.json'), 'utf8'))
    expect(file).to.deep.equal(service.tokens)
    expect((await exchange(again, `${pathOf(record.src)}?w=20`)).status).to.equal(200)
    const put = await exchange(again, link, { method: 'PUT', body: png })
    expect(put.status, put.body.toString()).to.equal(200)
    const told = again.log.lines.filter(({ message }) => message.includes('restored from the bucket'))
    expect(told).to.have.length(1)
  })

  it('gives the newest secret after a rotation', async () => {
    const service = await start()
    const { tokens } = await service.app.clients.rotate('first', { keepOldMs: 0 })
    await backUp(service, ['bucket', 'app-secret'])
    const again = await start({ dataDir: restored })
    expect(again.tokens).to.deep.equal(tokens)
  })

  itLong('keeps its own tokens next to the credentials.json of another installation', async () => {
    const service = await start()
    const fresh = await start()
    await backUp(fresh, ['credentials.json'])
    await backUp(service, ['bucket', 'app-secret'])
    expect((await start({ dataDir: restored })).tokens).to.deep.equal(service.tokens)
  })

  for (const [what, files] of everyNth(2, [
    ["with another installation's app-secret and tokens", ['app-secret', 'credentials.json']],
    ['without app-secret', []],
  ] as const))
    it(`${what} refuses to start, and the error explains how to keep the public URLs`, async () => {
      const service = await start()
      const record = await uploadOne(service, { name: 'a.png', bytes: png })
      await backUp(await start(), files)
      await backUp(service, ['bucket'])
      const { clientToken } = service.tokens
      const { message } = (await rejection(start({ dataDir: restored }))) as Error
      expect(message).to.include(join(restored, 'app-secret')).and.include(`CLIENT_TOKEN=${clientToken}`)
      const APP_SECRET = 'a new one'.padEnd(32, '.').replaceAll(' ', '-')
      const noTokens = (await rejection(start({ dataDir: restored, env: { APP_SECRET } }))) as Error
      expect(noTokens.message).to.include('credentials.json').and.include(`CLIENT_TOKEN=${clientToken}`)
      const env = {
        APP_SECRET,
        CLIENT_TOKEN: clientToken,
        SECRET_CLIENT_TOKEN: 'sec_a_new_one_of_the_operator',
      }
      const again = await start({ dataDir: restored, env })
      expect((await exchange(again, `${pathOf(record.src)}?w=20`)).status).to.equal(200)
      const warned = again.log.lines.filter(
        ({ level, message }) => level === 'warn' && /APP_SECRET/.test(message),
      )
      expect(warned).to.have.length(1)
    })

  it('logs the name of the file to back up at the first start only', async () => {
    const service = await start()
    const told = ({ log }: Service) => log.lines.filter(({ message }) => message.includes('Keep a copy'))
    expect(told(service)).to.have.length(1)
    expect(told(service)[0]?.fields).to.deep.equal({ file: join(service.dataDir, 'app-secret') })
    await service.stop({ keepData: true })
    const again = await start({ dataDir: service.dataDir })
    expect(told(again)).to.have.length(0)
  })

  itLong('restores the tokens of an earlier version after one start with this version', async () => {
    const service = await start()
    const file = join(service.dataDir, 'bucket', 'first', '.sluice', 'clients', 'first.json')
    await service.stop({ keepData: true })
    const { recovery, ...former } = JSON.parse(await readFile(file, 'utf8'))
    expect(recovery).to.be.a('string')
    await writeFile(file, JSON.stringify(former))
    const again = await start({ dataDir: service.dataDir })
    expect(again.tokens).to.deep.equal(service.tokens)
    await backUp(again, ['bucket', 'app-secret'])
    expect((await start({ dataDir: restored })).tokens).to.deep.equal(service.tokens)
  })

  itLong('needs only the bucket and APP_SECRET on a new machine with S3', async () => {
    const env = { ...(await s3Env('backup')), APP_SECRET: 'of-both-machines'.padEnd(32, '.') }
    const service = await start({ env })
    const record = await uploadOne(service, { name: 'a.png', bytes: png })
    const again = await start({ env, dataDir: restored })
    expect(again.tokens).to.deep.equal(service.tokens)
    expect((await exchange(again, `${pathOf(record.src)}?w=20`)).status).to.equal(200)
  })
})
