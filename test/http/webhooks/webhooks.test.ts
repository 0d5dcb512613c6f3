import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { ADMIN_PASSWORD, postSignIn } from '../../support/requests/admin.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, newClient, uploadOne } from '../../support/requests/client.ts'
import { type Receiver, receiver } from '../../support/requests/receiver.ts'
import { type Remote, remote } from '../../support/requests/remote.ts'
import type { Service } from '../../support/service.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test asserts its structure.
type Json = any

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

onOneBackend('/v1/webhooks', (start) => {
  let target: Receiver
  let service: Service
  let other: Caller & { id: string }
  let operator: string
  // A test that fails must not leave a server open: the process would not end.
  const opened: Remote[] = []

  before(async () => {
    target = await receiver()
    opened.push(target)
    service = await started({ WEBHOOK_URL: target.url('/hooks') })
    other = await newClient(service)
    operator = await operatorOf(service)
  })
  after(() => Promise.all(opened.map((each) => each.close())))
  beforeEach(() => {
    target.status = 204
    target.received.length = 0
  })

  const started = (env: Record<string, string>) =>
    start({
      env: {
        ADMIN_PASSWORD,
        WEBHOOK_SECRET: SECRET,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        WEBHOOK_EVENTS: 'original.stored',
        ...env,
      },
    })
  async function operatorOf(one: Service): Promise<string> {
    const response = await postSignIn(one, { password: ADMIN_PASSWORD })
    return `Bearer ${((await response.json()) as { token: string }).token}`
  }
  const post = (path: string, json?: unknown, secret?: string) =>
    ask(service, `/v1/webhooks/${path}`, {
      method: 'POST',
      ...(json === undefined ? {} : { json }),
      ...(secret === undefined ? {} : { secret }),
    }) as Promise<{ status: number; body: Json }>
  const get = (path: string, secret?: string) =>
    ask(service, `/v1/webhooks/${path}`, secret === undefined ? {} : { secret }) as Promise<{
      status: number
      body: Json
    }>
  const ids = () => target.received.map(({ headers }) => headers['webhook-id'])
  const sent = (eventId: string) => ids().filter((id) => id === eventId).length
  /** Uploads a file, and returns the delivery of its event when its first attempt has ended. */
  async function delivered(as: Caller = service, secret?: string) {
    const before = target.received.length
    const record = await uploadOne(as, { name: 'a.txt', bytes: `text ${Math.random()}` })
    await eventually(() => expect(target.received.length).to.be.above(before))
    let details: Json
    await eventually(async () => {
      const { body } = await get('deliveries?limit=1', secret)
      details = (await get(`deliveries/${body.deliveries[0].id}`, secret)).body
      expect(details.attempts).to.have.length(1)
      expect(details.payload.data.key).to.equal(record.s3PathOriginal)
    })
    return details
  }

  describe('POST /v1/webhooks/test', () => {
    it('sends a signed test event at once, and returns the status and the duration', async () => {
      const { status, body } = await post('test')
      expect(status).to.equal(200)
      const { ms } = body.receivers[0]
      expect(Number.isInteger(ms) && ms >= 0, `${ms}`).to.equal(true)
      const name = new URL(target.url()).host
      const { id } = body.receivers[0].receiver
      expect(body.receivers).to.deep.equal([
        { receiver: { id, name }, delivered: true, ms, status: 204, body: '' },
      ])
      const [request] = target.received
      expect(ids()).to.deep.equal([body.eventId])
      expect(request?.headers['webhook-signature']).to.match(/^v1,/)
      const { type, data } = JSON.parse(String(request?.body))
      expect({ type, data }).to.deep.equal({ type: 'webhook.test', data: { clientId: 'first' } })
    })

    it('returns the first 1024 bytes of the body of a refusal, also when its rest is never sent', async () => {
      const slow = await remote(async (_, res) => {
        res.writeHead(401).write('x'.repeat(2000))
      })
      opened.push(slow)
      const one = await started({ WEBHOOK_URL: `${slow.url('/hooks')} ${target.url('/more')}` })
      const { body } = await ask(one, '/v1/webhooks/test', { method: 'POST', secret: await operatorOf(one) })
      const { receivers } = body as Json
      expect(receivers.map(({ delivered, status }: Json) => [delivered, status])).to.deep.equal([
        [false, 401],
        [true, 204],
      ])
      expect(receivers[0].body).to.equal('x'.repeat(1024))
      expect(receivers[0].error).to.equal(`${new URL(slow.url()).host} responded with 401`)
      await one.stop()
    })

    it('states the remedy for a private address', async () => {
      const one = await started({
        WEBHOOK_URL: target.url('/hooks'),
        WEBHOOK_ALLOW_ADDRESSES: '10.0.0.0/8',
      })
      const { body } = await ask(one, '/v1/webhooks/test', { method: 'POST' })
      const [result] = (body as Json).receivers
      expect(result.delivered).to.equal(false)
      expect(result).to.not.have.property('status')
      expect(result.error)
        .to.include('is not a public address')
        .and.to.include('Add its range to WEBHOOK_ALLOW_ADDRESSES')
      expect(target.received).to.have.length(0)
      await one.stop()
    })

    it('is refused without receivers', async () => {
      const one = await start({})
      const { status, body } = await ask(one, '/v1/webhooks/test', { method: 'POST' })
      expect([status, (body as Json).code]).to.deep.equal([409, 'no_webhook_receiver'])
      const list = await ask(one, '/v1/webhooks/deliveries')
      expect([list.status, list.body]).to.deep.equal([200, { deliveries: [], cursor: null }])
      await one.stop()
    })

    it('does not stop a receiver that responds with 410', async () => {
      target.status = 410
      const { body } = await post('test')
      expect(body.receivers[0]).to.deep.include({ delivered: false, status: 410 })
      target.status = 204
      expect((await delivered()).status).to.equal('delivered')
    })

    it('is refused while four tests of the same caller are in flight', async () => {
      const held: ServerResponse[] = []
      const slow = await remote((_, res) => held.push(res))
      opened.push(slow)
      const one = await started({ WEBHOOK_URL: slow.url('/hooks') })
      const test = () => ask(one, '/v1/webhooks/test', { method: 'POST' }) as Promise<Json>
      const running = Promise.all([1, 2, 3, 4].map(test))
      await eventually(() => expect(held).to.have.length(4))
      const refused = await test()
      expect([refused.status, refused.body.code]).to.deep.equal([429, 'too_many_webhook_tests'])
      const second = await newClient(one)
      const ofOther = ask(second, '/v1/webhooks/test', { method: 'POST' }) as Promise<Json>
      await eventually(() => expect(held).to.have.length(5))
      held.pop()?.writeHead(204).end()
      expect((await ofOther).status).to.equal(200)
      for (const response of held.splice(0)) response.writeHead(204).end()
      expect((await running).map(({ body }) => body.receivers[0].status)).to.deep.equal([204, 204, 204, 204])
      await one.stop()
    })
  })

  describe('the log of deliveries', () => {
    it('has each delivery with its attempts, its payload and the time of its next attempt', async () => {
      const good = await delivered()
      const { attempts, payload, ...rest } = good
      expect(rest).to.deep.include({ event: 'original.stored', clientId: 'first', status: 'delivered' })
      expect(rest.eventId).to.equal(ids()[0])
      expect(attempts[0]).to.include({ status: 204 }).and.to.not.have.property('error')
      expect(payload).to.deep.equal(JSON.parse(String(target.received[0]?.body)))

      target.status = 500
      const bad = await delivered()
      expect(bad).to.deep.include({ status: 'pending' })
      expect(bad.attempts[0]).to.include({
        status: 500,
        error: `${new URL(target.url()).host} responded with 500`,
      })
      const wait = Date.parse(bad.nextAttemptAt) - Date.parse(bad.attempts[0].at)
      expect(wait).to.be.within(60_000, 130_000)

      const { body } = await get('deliveries?limit=2')
      expect(body.deliveries.map(({ id }: Json) => id)).to.deep.equal([bad.id, good.id])
      expect(body.deliveries[0]).to.not.have.property('payload')
      const next = await get(`deliveries?limit=1&cursor=${(await get('deliveries?limit=1')).body.cursor}`)
      expect(next.body.deliveries[0].id).to.equal(good.id)
      const pending = await get('deliveries?status=pending')
      expect(pending.body.deliveries.map(({ id }: Json) => id)).to.deep.equal([bad.id])
    })

    it('has the deliveries of all clients for the operator, and its own alone for a client', async () => {
      target.status = 500
      const { secretClientToken: secret } = other.tokens
      const theirs = await delivered(other, secret)
      const { id } = theirs.receiver
      expect(theirs).to.deep.include({ clientId: other.id, receiver: { id } })
      expect(theirs.attempts[0].error).to.equal('the receiver responded with 500')
      const tested = await post('test', undefined, secret)
      expect(Object.keys(tested.body.receivers[0])).to.have.members([
        'receiver',
        'delivered',
        'ms',
        'status',
        'error',
      ])
      expect(JSON.stringify(tested.body)).to.not.include('127.0.0.1')
      const clientsIn = async (token?: string) =>
        new Set((await get('deliveries', token)).body.deliveries.map(({ clientId }: Json) => clientId))
      expect([...(await clientsIn(secret))]).to.deep.equal([other.id])
      expect([...(await clientsIn())]).to.deep.equal(['first'])
      expect([...(await clientsIn(operator))]).to.have.members([other.id, 'first'])
      for (const path of [`deliveries/${theirs.id}`, 'deliveries/evt_1'])
        expect((await get(path)).body).to.deep.include({ status: 404, code: 'delivery_not_found' })
      expect((await post(`deliveries/${theirs.id}/replay`)).status).to.equal(404)
      expect((await get(`deliveries/${theirs.id}`, operator)).body.attempts[0].error).to.include('127.0.0.1')
    })

    it('refuses other callers and invalid parameters', async () => {
      const scoped = async (scope: object) => (await service.app.clients.addSecret('first', { scope })).secret
      const read = await scoped({ only: 'read' })
      for (const [path, secret, code] of [
        ['deliveries', 'Bearer adm_x', 'not_signed_in'],
        ['deliveries', service.tokens.clientToken, 'unauthorized'],
        ['deliveries', await scoped({ folder: 'a' }), 'out_of_scope'],
        ['deliveries', await scoped({ only: 'upload' }), 'out_of_scope'],
        ['deliveries?status=done', read, 'bad_parameter'],
        ['deliveries?since=today', read, 'bad_parameter'],
        ['deliveries?cursor=x', read, 'bad_parameter'],
        ['deliveries?limit=0', read, 'bad_parameter'],
        ['deliveries?page=1', read, 'bad_parameter'],
      ] as const)
        expect((await get(path, secret)).body.code, path).to.equal(code)
      for (const path of ['test', 'replay', 'deliveries/x/replay'])
        expect((await post(path, {}, read)).body.code, path).to.equal('out_of_scope')
      for (const body of [
        {},
        { since: 'today' },
        { since: new Date(), status: 'x' },
        { since: new Date(), a: 1 },
      ])
        expect((await post('replay', body)).body.code).to.equal('bad_parameter')
    })
  })

  describe('a replay', () => {
    it('sends a delivery again at once, with the same event id', async () => {
      target.status = 500
      const { id, eventId } = await delivered()
      target.status = 204
      const { status, body } = await post(`deliveries/${id}/replay`)
      expect([status, body.id]).to.deep.equal([202, id])
      await eventually(async () => {
        const { body: again } = await get(`deliveries/${id}`)
        expect(again.status).to.equal('delivered')
        expect(again).to.not.have.property('nextAttemptAt')
        expect(again.attempts.map((attempt: Json) => attempt.status)).to.deep.equal([500, 204])
      })
      expect(sent(eventId)).to.equal(2)
      await post(`deliveries/${id}/replay`, undefined, operator)
      await eventually(() => expect(sent(eventId)).to.equal(3))
    })

    it('of several deliveries sends those of a status since a time', async () => {
      target.status = 500
      const first = await delivered()
      const second = await delivered()
      const theirs = await delivered(other, other.tokens.secretClientToken)
      target.status = 204
      target.received.length = 0
      const since = first.occurredAt
      const replay = (status: string, secret?: string) => post('replay', { since, status }, secret)
      expect((await post('replay', { since })).body).to.deep.equal({ replayed: 0, skipped: 0 })
      const { status, body } = await replay('pending')
      expect([status, body]).to.deep.equal([202, { replayed: 2, skipped: 0 }])
      await eventually(() => expect([sent(first.eventId), sent(second.eventId)]).to.deep.equal([1, 1]))
      expect(sent(theirs.eventId)).to.equal(0)
      expect((await replay('pending', operator)).body.replayed).to.be.within(1, 3)
      await eventually(() => expect(sent(theirs.eventId)).to.equal(1))
    })

    it('is refused when the receiver is no longer configured', async () => {
      const old = await receiver(500)
      opened.push(old)
      const env = { WEBHOOK_URL: old.url('/hooks') }
      const first = await started(env)
      await uploadOne(first, { name: 'a.txt', bytes: 'text' })
      let id = ''
      await eventually(async () => {
        const { body } = (await ask(first, '/v1/webhooks/deliveries')) as Json
        expect(body.deliveries[0].attempts).to.have.length(1)
        id = body.deliveries[0].id
      })
      await first.stop({ keepData: true })
      const second = await start({
        dataDir: first.dataDir,
        env: { WEBHOOK_URL: target.url('/hooks'), WEBHOOK_SECRET: SECRET },
      })
      const refused = (await ask(second, `/v1/webhooks/deliveries/${id}/replay`, { method: 'POST' })) as Json
      expect([refused.status, refused.body.code]).to.deep.equal([409, 'receiver_removed'])
      const json = { since: '2020-01-01T00:00:00Z', status: 'pending' }
      const all = (await ask(second, '/v1/webhooks/replay', { method: 'POST', json })) as Json
      expect(all.body).to.deep.equal({ replayed: 0, skipped: 1 })
      await second.stop()
    })
  })
})
