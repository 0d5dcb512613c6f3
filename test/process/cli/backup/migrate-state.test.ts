import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { createClient } from '../../../../client/index.ts'
import type { StateReport } from '../../../../src/core/backup/report.ts'
import { DISK_REDIS } from '../../../support/backends.ts'
import { eventually } from '../../../support/eventually.ts'
import { sluice, sluiceJson } from '../../../support/programs/sluice.ts'
import { ADMIN_PASSWORD } from '../../../support/requests/admin.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { type Receiver, receiver } from '../../../support/requests/receiver.ts'
import { type Service, startService } from '../../../support/service.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

describe('sluice migrate-state', function () {
  this.timeout(90_000)
  let dataDir: string
  let hook: Receiver
  let withRedis: Record<string, string>
  let alone: Record<string, string>
  before(async () => {
    dataDir = await temporaryFolder()
    // Its requests end with the service, and are due again at once.
    hook = await receiver(0)
    withRedis = {
      ...(await DISK_REDIS.env(dataDir)),
      DATA_DIR: dataDir,
      ADMIN_PASSWORD,
      WEBHOOK_URL: hook.url('/hook'),
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
      WEBHOOK_EVENTS: 'original.stored',
    }
    const { REDIS_URL: _, ...rest } = withRedis
    alone = rest
  })
  let running: Service | undefined
  const start = async (options: Parameters<typeof startService>[0]) => {
    running = await startService(options)
    return running
  }
  const stop = async () => {
    const service = running
    running = undefined
    await service?.stop({ keepData: true })
  }
  after(async () => {
    await stop()
    await hook.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  /** The data folders whose state is not in Redis, according to the log. */
  const warnings = ({ log }: Service) =>
    log.lines.filter(({ message }) => message.includes('migrate-state')).map(({ fields }) => fields.dataDir)

  async function signedIn(url: string) {
    const operator = createClient({ baseUrl: url })
    await operator.clients.signIn(ADMIN_PASSWORD)
    return operator
  }

  it('copies uses of links, usage, both logs and waiting jobs to Redis once, after the service has stopped', async () => {
    const former = await start({ dataDir, env: alone })
    const { src } = await uploadOne(former, { name: 'a.txt', bytes: 'text' })
    await exchange(former, new URL(src).pathname)
    const signed = await exchange(former, '/v1/sign/_?expirationIn=3600', {
      headers: { Authorization: former.tokens.secretClientToken },
    })
    const link = String(jsonOf(signed).url).slice(former.url.length)
    expect((await exchange(former, link, { method: 'PUT', body: 'by link' })).status).to.equal(200)
    const operator = await signedIn(former.url)
    for (const name of ['one', 'two']) await operator.clients.create({ name })
    const { entries } = await operator.audit.page()
    expect(entries).to.have.length.above(2)
    await eventually(() => expect(hook.received).to.have.length(2))
    const inUse = await sluice(['migrate-state', dataDir], withRedis)
    expect(inUse.code).to.equal(1)
    expect(inUse.stderr).to.include(`DATA_DIR ${dataDir} is in use by process ${process.pid}`)
    await stop()

    const forgotten = await start({ dataDir, backend: DISK_REDIS, env: withRedis })
    expect(warnings(forgotten)).to.deep.equal([dataDir])
    await stop()
    const { stdout } = await sluice(['doctor'], withRedis)
    expect(stdout).to.include('has the state of a service without Redis')
    const report = await sluiceJson<StateReport>(['migrate-state', dataDir], withRedis)
    expect(report).to.include({ usage: 1, audit: entries.length, deliveries: 2, jobs: 2 })
    expect(report.ledger).to.be.above(0)
    const again = await sluiceJson<StateReport>(['migrate-state', dataDir], withRedis)
    expect(again).to.deep.equal({ ledger: 0, usage: 0, audit: 0, deliveries: 0, jobs: 2 })

    hook.status = 204
    const service = await start({ dataDir, backend: DISK_REDIS, env: withRedis })
    expect(warnings(service)).to.deep.equal([])
    const used = await exchange(service, link, { method: 'PUT', body: 'again' })
    expect([used.status, jsonOf(used).code]).to.deep.equal([409, 'link_used'])
    const owner = await signedIn(service.url)
    const now = await owner.audit.page()
    const withoutIds = (list: typeof entries) => list.map(({ id: _, ...entry }) => entry)
    expect(withoutIds(now.entries).slice(-entries.length)).to.deep.equal(withoutIds(entries))
    await eventually(async () => {
      const { deliveries } = await owner.webhooks.page({})
      const statuses = deliveries.map(({ status }) => status)
      expect(statuses).to.deep.equal(['delivered', 'delivered'])
    })
    expect(new Set(hook.received.slice(2).map(({ headers }) => headers['webhook-id'])).size).to.equal(2)
    const sluiceClient = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
    const { days } = await sluiceClient.usage()
    expect(days.find(({ uploads }) => uploads > 0)).to.include({ uploads: 2, deliveries: 1 })
  })

  it('refuses a folder without a state, and a missing Redis', async () => {
    const empty = await temporaryFolder()
    const { code, stderr } = await sluice(['migrate-state', empty], withRedis)
    expect(code).to.equal(1)
    expect(stderr).to.include(`${empty} is not the DATA_DIR of a service without Redis`)
    const withoutRedis = await sluice(['migrate-state', dataDir], alone)
    expect(withoutRedis.code).to.equal(1)
    expect(withoutRedis.stderr).to.include('set REDIS_URL')
    await rm(empty, { recursive: true, force: true })
  })
})
