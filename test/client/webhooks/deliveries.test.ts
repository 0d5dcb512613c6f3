import { expect } from 'chai'
import { createClient, type WebhookDelivery } from '../../../client/index.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import { newClient, uploadOne } from '../../support/requests/client.ts'
import { type Receiver, receiver } from '../../support/requests/receiver.ts'

onOneBackend('webhooks of the client library', (start) => {
  let target: Receiver
  before(async () => {
    target = await receiver(500)
  })
  after(() => target.close())

  it('tests receivers, lists deliveries and sends them again', async () => {
    const service = await start({
      env: {
        ADMIN_PASSWORD,
        WEBHOOK_URL: target.url('/hooks'),
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        WEBHOOK_EVENTS: 'original.stored',
      },
    })
    const other = await newClient(service)
    for (const caller of [service, service, other])
      await uploadOne(caller, { name: 'a.txt', bytes: `text ${Math.random()}` })
    const secret = service.tokens.secretClientToken
    const { webhooks } = createClient({ baseUrl: service.url, secret })
    expect((await webhooks.test()).receivers[0]).to.deep.include({ delivered: false, status: 500 })
    const all: WebhookDelivery[] = []
    await eventually(async () => {
      all.length = 0
      for await (const delivery of webhooks.list({ status: 'pending', limit: 1 })) all.push(delivery)
      expect(all.map(({ attempts }) => attempts.length)).to.deep.equal([1, 1])
    })
    const [{ id, eventId, occurredAt } = expect.fail()] = all
    const { deliveries, cursor } = await webhooks.page({ limit: 1 })
    expect(deliveries.map((delivery) => delivery.id)).to.deep.equal([id])
    expect((await webhooks.page({ limit: 1, cursor: cursor ?? '' })).deliveries).to.deep.equal([all[1]])
    expect((await webhooks.get(id)).payload.type).to.equal('original.stored')
    expect(await rejection(webhooks.get('a/b'))).to.include({ status: 404, code: 'delivery_not_found' })

    target.status = 204
    expect((await webhooks.replay(id)).eventId).to.equal(eventId)
    await eventually(async () => expect((await webhooks.get(id)).status).to.equal('delivered'))
    const selection = { since: occurredAt, status: 'delivered' } as const
    expect(await webhooks.replayAll(selection)).to.deep.equal({ replayed: 1, skipped: 0 })

    const operator = createClient({ baseUrl: service.url })
    expect(await rejection(operator.webhooks.page())).to.include({ status: 401 })
    await operator.clients.signIn(ADMIN_PASSWORD)
    const clientIds = (await operator.webhooks.page()).deliveries.map(({ clientId }) => clientId)
    expect(clientIds.sort()).to.deep.equal(['first', 'first', other.id].sort())
  })
})
