import { expect } from 'chai'
import { createClient } from '../../../client/index.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { type Receiver, receiver } from '../../support/requests/receiver.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('receivers of webhooks', (start) => {
  let good: Receiver
  let bad: Receiver
  let service: Service
  let other: Caller & { id: string }
  let operator: ReturnType<typeof createClient>
  let goodId: string
  let badId: string

  before(async () => {
    good = await receiver(204)
    bad = await receiver(500)
    service = await start({
      env: {
        ADMIN_PASSWORD,
        WEBHOOK_URL: `${good.url('/a')} ${bad.url('/b')}`,
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        WEBHOOK_EVENTS: 'original.stored original.deleted',
      },
    })
    other = await newClient(service)
    operator = createClient({ baseUrl: service.url })
    await operator.clients.signIn(ADMIN_PASSWORD)
    const known = await operator.webhooks.receivers()
    goodId = known[0]?.id ?? ''
    badId = known[1]?.id ?? ''
    for (const caller of [service, other]) {
      const { s3PathOriginal } = await uploadOne(caller, { name: 'a.txt', bytes: 'text' })
      expect((await deleteFile(caller, s3PathOriginal)).status).to.equal(200)
    }
    await eventually(async () => expect(await listed({ status: 'delivered' })).to.have.length(4))
  })
  after(() => Promise.all([good.close(), bad.close()]))

  async function listed(selection: Parameters<typeof operator.webhooks.page>[0]) {
    return (await operator.webhooks.page(selection)).deliveries
  }

  it('are listed with their events, by name for the operator', async () => {
    const events = ['original.stored', 'original.deleted']
    expect(await operator.webhooks.receivers()).to.deep.equal([
      { id: goodId, name: new URL(good.url()).host, events },
      { id: badId, name: new URL(bad.url()).host, events },
    ])
    expect(goodId).to.match(/^[\da-f]{16}$/)
    const theirs = await ask(service, '/v1/webhooks/receivers', { secret: other.tokens.secretClientToken })
    expect(theirs.body).to.deep.equal({
      receivers: [
        { id: goodId, events },
        { id: badId, events },
      ],
    })
    const refused = await ask(service, '/v1/webhooks/receivers', { secret: other.tokens.clientToken })
    expect(refused.status).to.equal(401)
    expect((await ask(service, '/v1/webhooks/receivers?a=1')).status).to.equal(400)
  })

  it('select deliveries, as do events and clients', async () => {
    expect(await listed({})).to.have.length(8)
    const ofBad = await listed({ receiver: badId })
    expect(ofBad.map(({ receiver }) => receiver.id)).to.deep.equal(Array(4).fill(badId))
    const deletions = await listed({ event: 'original.deleted', receiver: goodId })
    expect(deletions.map(({ event }) => event)).to.deep.equal(Array(2).fill('original.deleted'))
    const theirs = await listed({ client: other.id, event: 'original.stored' })
    expect(theirs.map(({ clientId }) => clientId)).to.deep.equal([other.id, other.id])
    for (const [query, secret] of [
      ['event=original.eaten', undefined],
      ['receiver=a.example', undefined],
      ['client=first', service.tokens.secretClientToken],
    ] as const) {
      const { status, body } = await ask(
        service,
        `/v1/webhooks/deliveries?${query}`,
        secret ? { secret } : {},
      )
      expect([status, (body as { param: string }).param]).to.deep.equal([400, query.split('=')[0]])
    }
  })

  it('select what is replayed', async () => {
    const since = new Date(Date.now() - 3_600_000).toISOString()
    bad.status = 204
    bad.received.length = 0
    good.received.length = 0
    const selection = { since, status: 'pending', receiver: badId, client: other.id } as const
    expect(await operator.webhooks.replayAll({ ...selection, event: 'original.deleted' })).to.deep.equal({
      replayed: 1,
      skipped: 0,
    })
    await eventually(async () =>
      expect(await listed({ receiver: badId, status: 'delivered' })).to.have.length(1),
    )
    expect([good.received.length, bad.received.length]).to.deep.equal([0, 1])
    const { type, data } = JSON.parse(String(bad.received[0]?.body))
    expect([type, data.clientId]).to.deep.equal(['original.deleted', other.id])
    // The other receiver has four of them.
    const delivered = { since, status: 'delivered', receiver: badId } as const
    expect((await operator.webhooks.replayAll(delivered)).replayed).to.equal(1)
    const own = await ask(service, '/v1/webhooks/replay', {
      method: 'POST',
      json: { since, client: 'first' },
    })
    expect(own.status).to.equal(400)
  })
})
