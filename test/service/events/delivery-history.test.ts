import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { embeddedDeliveryLog } from '../../../src/adapters/delivery-log/embedded.ts'
import { inProcessEventBus } from '../../../src/adapters/event-bus/in-process.ts'
import { embeddedJobs } from '../../../src/adapters/jobs/embedded.ts'
import type { EventContext, EventPlugin } from '../../../src/core/plugin-api/event-plugin.ts'
import type { EventBus } from '../../../src/core/ports/event-bus.ts'
import type { Delivery, DeliveryLog } from '../../../src/core/ports/events/delivery-log.ts'
import type { Fetcher } from '../../../src/core/ports/fetcher.ts'
import type { Jobs } from '../../../src/core/ports/jobs.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { createEventDelivery, type RetryPolicy } from '../../../src/service/events/delivery.ts'
import { createDeliveryHistory } from '../../../src/service/events/delivery-history.ts'
import { createTestReceivers } from '../../../src/service/events/test-receivers.ts'
import { createWebhooks, type Webhooks } from '../../../src/service/events/webhooks.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { type RecordedLog, recordLog } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const POLICY: RetryPolicy = {
  attempts: 3,
  retryMs: 10,
  retryMaxMs: 20,
  limitMs: 5000,
  concurrency: 4,
  perTarget: 1,
  hungMs: 5000,
  waitMs: 5,
}
const fetcher: Fetcher = {
  fetch: () => expect.fail('no request is expected'),
  mayFetch: () => expect.fail('no request is expected'),
}

describe('delivery history', () => {
  let folder: string
  let log: RecordedLog
  let bus: EventBus
  let jobs: Jobs
  let deliveries: DeliveryLog & { close(): Promise<void> }
  let webhooks: Webhooks
  let calls: EventContext[]
  let outcomes: string[]
  let handle: (context: EventContext, call: number) => unknown

  beforeEach(async () => {
    folder = await temporaryFolder()
    log = recordLog()
    bus = inProcessEventBus(log, { limitMs: 300 })
    jobs = await embeddedJobs({ folder: join(folder, 'jobs'), log })
    const limits = { maxPerReceiver: 100, retentionMs: 600_000 }
    deliveries = await embeddedDeliveryLog(join(folder, 'deliveries'), limits)
    calls = []
    outcomes = []
    handle = () => {}
  })
  afterEach(async () => {
    await bus.idle()
    await jobs.close({ graceMs: 0 })
    await deliveries.close()
    await rm(folder, { recursive: true })
  })

  /** As in the service. */
  function start({
    queue = jobs,
    policy = {},
    store = deliveries,
  }: {
    queue?: Jobs
    policy?: Partial<RetryPolicy>
    store?: DeliveryLog
  } = {}): void {
    const plugin: EventPlugin = {
      name: 'listener',
      durable: true,
      on: {
        'client.changed': (_, context) => {
          calls.push(context)
          return handle(context, calls.length)
        },
      },
    }
    const targets = new Map([['client.changed', ['http://a.example/secret']] as const])
    const plugins = [{ plugin, options: {}, targets }]
    const history = createDeliveryHistory({
      deliveries: store,
      metrics: { webhookAttempted: ({ outcome }) => outcomes.push(outcome) },
      log,
    })
    const delivery = createEventDelivery({
      plugins,
      jobs: queue,
      fetcher,
      history,
      log,
      policy: { ...POLICY, ...policy },
    })
    delivery.listen(bus)
    delivery.work()
    const test = createTestReceivers({ plugins, fetcher, log })
    webhooks = createWebhooks({ test, deliveries: store, plugins, jobs: queue })
  }

  const emit = (clientId = 'x') => bus.emit('client.changed', { clientId })
  const all = () => deliveries.list({ limit: 100 })
  const only = async () => (await all())[0] as Delivery
  const hasStatus = (status: Delivery['status']) =>
    eventually(async () => expect((await only())?.status).to.equal(status))

  it('has a failed delivery with its attempts, which a replay delivers', async () => {
    handle = async ({ report }, call) => {
      if (call === 1) await report({ status: 503 })
      if (call <= 3) throw new Error(`failure ${call}`)
    }
    start()
    emit()
    await hasStatus('failed')
    const failed = await only()
    expect(failed.receiver.name).to.equal('a.example')
    expect(JSON.stringify(failed)).to.not.include('secret')
    expect(failed).to.not.have.property('nextAttemptAt')
    expect(failed.attempts.map(({ status, error }) => [status, error])).to.deep.equal([
      [503, 'failure 1'],
      [undefined, 'failure 2'],
      [undefined, 'failure 3'],
    ])
    await webhooks.replay(failed.id, {})
    await hasStatus('delivered')
    expect((await only()).attempts).to.have.length(4)
    expect(new Set(calls.map(({ id }) => id))).to.deep.equal(new Set([failed.eventId]))
    expect(calls.at(-1)?.occurredAt.getTime()).to.equal(failed.occurredAt)
  })

  it('has the earliest time of the next attempt, and none of a job that was put back', async () => {
    handle = () => {
      throw new Error('not now')
    }
    start({ policy: { retryMs: 3_600_000, retryMaxMs: 3_600_000 } })
    emit()
    await eventually(async () => expect((await only())?.attempts).to.have.length(1))
    const { nextAttemptAt = 0, attempts } = await only()
    expect(nextAttemptAt - (attempts[0]?.at ?? 0)).to.be.within(1_800_000, 3_700_000)

    handle = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    await webhooks.replay((await only()).id, {})
    await eventually(() => expect(calls).to.have.length(2))
    await jobs.close({ graceMs: 0 })
    expect((await only()).attempts).to.have.length(1)
    expect((await only()).status).to.equal('pending')
  })

  it('replaces the remaining attempts of a delivery by those of its replay', async () => {
    handle = (_, call) => {
      if (call === 1) throw new Error('not now')
    }
    start({ policy: { retryMs: 3_600_000, retryMaxMs: 3_600_000 } })
    emit()
    await eventually(async () => expect((await only())?.attempts).to.have.length(1))
    await webhooks.replay((await only()).id, {})
    await hasStatus('delivered')
    const { event: name, eventId: id, receiver } = await only()
    const data = { name, event: {}, id, occurredAt: new Date().toISOString(), target: receiver.id }
    const late = { kind: 'event-listener', id: 'an attempt of the first run' }
    await jobs.enqueue({ ...late, data })
    await eventually(async () => expect((await jobs.status(late))?.state).to.equal('done'))
    expect(calls).to.have.length(2)
    expect((await only()).attempts).to.have.length(2)
    expect(outcomes).to.deep.equal(['retried', 'delivered'])
  })

  it('is queued once by its replays, until one is sent', async () => {
    let send = () => {}
    handle = (_, call) => {
      if (call === 1) throw new Error('not now')
      return new Promise<void>((resolve) => {
        send = resolve
      })
    }
    const queued: string[] = []
    const enqueue: Jobs['enqueue'] = (job) => {
      queued.push(job.id)
      return jobs.enqueue(job)
    }
    start({ policy: { retryMs: 3_600_000, retryMaxMs: 3_600_000 }, queue: { ...jobs, enqueue } })
    emit()
    await eventually(async () => expect((await only())?.attempts).to.have.length(1))
    const { id } = await only()
    const { signal } = new AbortController()
    for (let i = 0; i < 5; i += 1) {
      expect(await webhooks.replay(id, {})).to.include({ id, status: 'pending', run: 1 })
      expect((await webhooks.replayAll({ status: 'pending' }, signal)).replayed).to.equal(1)
    }
    expect(queued).to.deep.equal([id, `${id}~1`])
    await eventually(() => expect(calls).to.have.length(2))
    send()
    await hasStatus('delivered')
    expect(await webhooks.replay(id, {})).to.include({ run: 2 })
    expect(queued).to.have.length(3)
    await eventually(() => expect(calls).to.have.length(3))
    send()
    await hasStatus('delivered')
  })

  it('has the reason why a target gets no more events', async () => {
    handle = ({ stop }) => stop('a.example responded with 410')
    start()
    emit()
    await hasStatus('failed')
    expect((await only()).attempts[0]?.error).to.equal('a.example responded with 410')
    await webhooks.replay((await only()).id, {})
    await eventually(async () => expect((await only()).attempts).to.have.length(2))
    expect((await only()).status).to.equal('failed')
    expect(calls).to.have.length(1)
    expect(outcomes).to.deep.equal(['dropped', 'dropped'])
  })

  it('has an event that could not be queued, and a replay queues it', async () => {
    let isDown = true
    const enqueue: Jobs['enqueue'] = (job) =>
      isDown ? Promise.reject(unavailable('The queue is down.')) : jobs.enqueue(job)
    start({ queue: { ...jobs, enqueue } })
    emit()
    await hasStatus('failed')
    const { id, attempts } = await only()
    expect(attempts.map(({ error }) => error)).to.deep.equal(['The queue is down.'])
    expect(String(await rejection(webhooks.replay(id, {})))).to.include('The queue is down.')
    expect((await only()).status).to.equal('failed')
    isDown = false
    await webhooks.replay(id, {})
    await hasStatus('delivered')
  })

  it('does not prevent a delivery when it cannot be written', async () => {
    const fail = async () => {
      throw unavailable('The log is down.')
    }
    start({ store: { add: fail, change: fail, find: fail, list: fail } })
    emit()
    await eventually(() => expect(calls).to.have.length(1))
    await eventually(() =>
      expect(log.lines.filter(({ message }) => message.includes('delivery log'))).to.have.length(1),
    )
  })

  it('is replayed as a whole, oldest first, for one client or for all', async () => {
    handle = () => {
      throw new Error('not now')
    }
    start({ policy: { attempts: 1, concurrency: 1 } })
    for (const clientId of ['x', 'y', 'x']) {
      const before = calls.length
      emit(clientId)
      await eventually(() => expect(calls).to.have.length(before + 1))
    }
    await eventually(async () =>
      expect((await all()).map(({ status }) => status)).to.deep.equal(['failed', 'failed', 'failed']),
    )
    const oldestFirst = (await all()).map(({ eventId }) => eventId).reverse()
    handle = () => {}
    calls.length = 0
    const { signal } = new AbortController()
    const report = await webhooks.replayAll({ status: 'failed', clientId: 'y' }, signal)
    expect(report).to.deep.equal({ replayed: 1, skipped: 0 })
    await eventually(() => expect(calls.map(({ id }) => id)).to.deep.equal([oldestFirst[1]]))
    expect((await webhooks.replayAll({ status: 'failed' }, signal)).replayed).to.equal(2)
    await eventually(() =>
      expect(calls.map(({ id }) => id)).to.deep.equal([oldestFirst[1], oldestFirst[0], oldestFirst[2]]),
    )
  })
})
