import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { inProcessEventBus } from '../../../src/adapters/event-bus/in-process.ts'
import { bullmqJobs } from '../../../src/adapters/jobs/bullmq.ts'
import { embeddedJobs } from '../../../src/adapters/jobs/embedded.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import type { Events } from '../../../src/core/events.ts'
import type { EventContext, EventPlugin } from '../../../src/core/plugin-api/event-plugin.ts'
import type { EventBus } from '../../../src/core/ports/event-bus.ts'
import type { Fetcher } from '../../../src/core/ports/fetcher.ts'
import type { JobRequest, Jobs } from '../../../src/core/ports/jobs.ts'
import { Problem, unavailable } from '../../../src/core/problem.ts'
import { checkTargets } from '../../../src/pipeline/load/check-event-plugin.ts'
import {
  createEventDelivery,
  type EventDelivery,
  type RetryPolicy,
} from '../../../src/service/events/delivery.ts'
import { eventually } from '../../support/eventually.ts'
import { newKeyPrefix, sharedRedis } from '../../support/servers/redis-server.ts'
import { type RecordedLog, recordLog } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const POLICY: RetryPolicy = {
  attempts: 3,
  retryMs: 10,
  retryMaxMs: 50,
  limitMs: 1000,
  concurrency: 4,
  perTarget: 2,
  hungMs: 500,
  waitMs: 20,
}
const PLACE = {
  clientId: 'x',
  key: 'image/png/k.png' as never,
  src: 'http://127.0.0.1/v1/image/upload/token/k.png',
  format: 'png',
  folder: '',
  // The longest that events carry.
  tags: Array.from({ length: 50 }, (_, i) => `${'"'.repeat(98)}${10 + i}`),
  metadata: { a: 'x'.repeat(20 * 1024 - 8) },
}
const fetcher: Fetcher = {
  fetch: () => expect.fail('nothing is to be fetched'),
  mayFetch: () => expect.fail('nothing is to be fetched'),
}

describe('event delivery', () => {
  let folder: string
  let log: RecordedLog
  let bus: EventBus
  let jobs: Jobs
  const opened: Jobs[] = []

  beforeEach(async () => {
    folder = await temporaryFolder()
    log = recordLog()
    jobs = await reopened()
    bus = inProcessEventBus(log)
  })
  afterEach(async () => {
    await bus.idle()
    for (const each of opened.splice(0)) await each.close({ graceMs: 0 })
    await rm(folder, { recursive: true, force: true })
  })

  async function reopened(): Promise<Jobs> {
    for (const each of opened.splice(0)) await each.close({ graceMs: 0 })
    const again = await embeddedJobs({ folder, log })
    opened.push(again)
    return again
  }

  async function onRedis(): Promise<Jobs> {
    const redis = connectRedis({ url: (await sharedRedis()).url })
    await redis.ready()
    const keyPrefix = newKeyPrefix()
    const queue = bullmqJobs({ redis, keyPrefix, log })
    opened.push({
      ...queue,
      async close(options) {
        await queue.close(options)
        await redis.client.del(...(await redis.client.keys(`${keyPrefix}*`)))
        await redis.close()
      },
    })
    return queue
  }

  /** As in the service: the plugins listen, and this process does what is queued, unless it only listens. */
  function deliver(
    plugins: EventPlugin[],
    {
      queue = jobs,
      options = {},
      policy = POLICY,
    }: { queue?: Jobs; options?: Record<string, unknown>; policy?: RetryPolicy } = {},
  ): EventDelivery {
    const loaded = plugins.map((plugin) => {
      const merged = { ...plugin.options, ...options }
      return { plugin, options: merged, targets: checkTargets('x.js', plugin, merged) }
    })
    const delivery = createEventDelivery({ plugins: loaded, jobs: queue, fetcher, log, policy })
    delivery.listen(bus)
    delivery.work()
    return delivery
  }

  /** As a process that leaves the work to others. */
  function queueOnly(plugin: EventPlugin, target: string): void {
    const targets = new Map([['client.changed', [target]] as const])
    createEventDelivery({ plugins: [{ plugin, options: {}, targets }], jobs, fetcher, log }).listen(bus)
  }

  type CommandItem = { event: Events['client.changed']; context: EventContext }
  /** A plugin that records its events, and calls `then` for each. */
  function listener(
    name: string,
    more: Partial<EventPlugin> = {},
    then: (told: CommandItem) => unknown = () => {},
  ): { plugin: EventPlugin; told: CommandItem[] } {
    const told: CommandItem[] = []
    const on: EventPlugin['on'] = {
      'client.changed': (event, context) => {
        told.push({ event, context })
        return then({ event, context })
      },
    }
    return { plugin: { name, on, ...more }, told }
  }
  const emit = (clientId: string) => bus.emit('client.changed', { clientId })
  const clientsOf = (told: CommandItem[]) => told.map(({ event }) => event.clientId)

  for (const durable of [false, true]) {
    describe(durable ? 'to a durable plugin' : 'to one that is not durable', () => {
      it("passes the event, with an ID, its time, the options, and the handler's tools", async () => {
        const { plugin, told } = listener('a', { durable, options: { depth: 1, other: 2 } })
        deliver([plugin], { options: { depth: 3 } })
        const before = Date.now()
        emit('x')
        const after = Date.now()
        await eventually(() => expect(told).to.have.length(1))
        const { event, context } = told[0] ?? expect.fail()
        expect(event).to.deep.equal({ clientId: 'x' })
        expect(context.id).to.match(/^evt_[1-9A-HJ-NP-Za-km-z]{22}$/)
        expect(context.occurredAt.getTime()).to.be.within(before, after)
        expect(context.options).to.deep.equal({ depth: 3, other: 2 })
        expect(context.target).to.equal('')
        expect(context.fetch).to.equal(fetcher.fetch)
        expect(context.signal).to.be.instanceOf(AbortSignal)
        expect(context.log).to.equal(log)
      })

      it('calls the handler only for events that concern the plugin', async () => {
        const { plugin, told } = listener('a', {
          durable,
          concerns: (_, event) => event.clientId !== 'other',
        })
        deliver([plugin])
        for (const clientId of ['other', 'x']) emit(clientId)
        await eventually(() => expect(clientsOf(told)).to.include('x'))
        await bus.idle()
        expect(clientsOf(told)).to.deep.equal(['x'])
      })

      it('calls the handler for each target, and not at all without targets', async () => {
        const { plugin, told } = listener('a', {
          durable,
          options: { to: ['x', 'y'] },
          targets: (name, { to }) => (name === 'client.changed' ? (to as string[]) : []),
        })
        const nobody = listener('b', { durable, targets: () => [] })
        deliver([plugin, nobody.plugin])
        emit('x')
        await eventually(() => expect(told).to.have.length(2))
        await pause(50)
        expect(told.map(({ context }) => context.target).sort()).to.deep.equal(['x', 'y'])
        expect(new Set(told.map(({ context }) => context.id)).size).to.equal(1)
        expect(nobody.told).to.be.empty
      })

      it('sends no more to a target that has stopped, and continues with others', async () => {
        const targets = () => ['x', 'y']
        const { plugin, told } = listener('a', { durable, targets }, ({ context }) => {
          if (context.target === 'x') context.stop('enough')
        })
        deliver([plugin])
        emit('1')
        await eventually(() => expect(told).to.have.length(2))
        await pause(20)
        emit('2')
        await eventually(() => expect(told).to.have.length(3))
        await pause(50)
        expect(told.slice(2).map(({ context }) => context.target)).to.deep.equal(['y'])
        const errors = log.lines.filter(({ level }) => level === 'error')
        expect(errors.map(({ fields }) => fields)).to.deep.equal([{ plugin: 'a', reason: 'enough' }])
      })

      it('returns at once, and a handler that hangs or fails blocks no other', async () => {
        bus = inProcessEventBus(log, { limitMs: 300 })
        const hanging = listener('hanging', { durable }, ({ context: { signal } }) => {
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        })
        const failing = listener('failing', { durable }, () => {
          throw new Error('broken')
        })
        const good = listener('good', { durable })
        deliver([hanging.plugin, failing.plugin, good.plugin])
        for (let i = 0; i < 3; i += 1) emit(String(i))
        expect([...hanging.told, ...failing.told, ...good.told]).to.be.empty
        await eventually(() => expect(clientsOf(good.told).sort()).to.deep.equal(['0', '1', '2']))
      })
    })
  }

  it('gives each event one ID for all receivers', async () => {
    const a = listener('a', { durable: true })
    const b = listener('b')
    deliver([a.plugin, b.plugin])
    emit('x')
    emit('y')
    await eventually(() => expect([...a.told, ...b.told]).to.have.length(4))
    const idOf = (told: CommandItem[], client: string) =>
      told.find(({ event }) => event.clientId === client)?.context.id
    for (const client of ['x', 'y']) expect(idOf(a.told, client)).to.equal(idOf(b.told, client))
    expect(idOf(a.told, 'x')).to.not.equal(idOf(a.told, 'y'))
  })

  it('calls a plugin that is not durable at most once: no retry', async () => {
    const { plugin, told } = listener('a', {}, () => {
      throw new Error('broken')
    })
    deliver([plugin])
    emit('x')
    await eventually(() => expect(log.lines).to.have.length(1))
    await pause(50)
    expect(told).to.have.length(1)
    expect(log.lines.map(({ message }) => message)).to.deep.equal(['an event handler failed'])
  })

  for (const [what, failure] of Object.entries({
    'an error': new Error('broken'),
    'a Problem of 500': unavailable('not now'),
    'a Problem of 400, which would be final for other jobs': new Problem({
      status: 400,
      code: 'url_not_allowed',
      detail: 'no address',
    }),
  })) {
    it(`calls a durable plugin again that fails with ${what}, until its attempts are used up`, async () => {
      const { plugin, told } = listener('a', { durable: true }, () => {
        throw failure
      })
      deliver([plugin])
      emit('x')
      await eventually(() => expect(log.lines.at(-1)?.message).to.equal('job failed'))
      expect(told).to.have.length(POLICY.attempts)
      const stamps = told.map(({ context: { id, occurredAt } }) => `${id} ${occurredAt.toISOString()}`)
      expect(new Set(stamps).size).to.equal(1)
    })
  }

  it('calls a durable plugin after a restart for queued events, also in another process', async () => {
    const { plugin, told } = listener('a', { durable: true })
    queueOnly(plugin, '')
    emit('x')
    await bus.idle()
    await pause(50)
    expect(told).to.be.empty
    jobs = await reopened()
    deliver([plugin])
    await eventually(() => expect(clientsOf(told)).to.deep.equal(['x']))
  })

  it('drops queued events of a target that is no longer configured', async () => {
    const { plugin, told } = listener('a', { durable: true, targets: () => ['old'] })
    queueOnly(plugin, 'old')
    emit('x')
    await bus.idle()
    jobs = await reopened()
    bus = inProcessEventBus(log)
    deliver([{ ...plugin, targets: () => ['new'] }])
    emit('y')
    await eventually(() => expect(told).to.have.length(1))
    await pause(100)
    expect(told.map(({ event, context }) => [event.clientId, context.target])).to.deep.equal([['y', 'new']])
    expect(log.lines).to.deep.equal([])
  })

  for (const [where, open] of Object.entries({ embedded: async () => jobs, BullMQ: onRedis })) {
    describe(`a target that hangs (${where})`, () => {
      let calls: Record<string, string[]>
      const hanging: EventPlugin = {
        name: 'a',
        durable: true,
        targets: () => ['hangs', 'answers'],
        on: {
          async 'client.changed'({ clientId }, { target, signal }) {
            calls[target]?.push(clientId)
            if (target === 'answers') return
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
          },
        },
      }
      const ids = Array.from({ length: 100 }, (_, i) => `client ${i}`)
      beforeEach(() => {
        calls = { hangs: [], answers: [] }
      })

      it('blocks no other target, and has a part of the slots', async () => {
        deliver([hanging], { queue: await open(), policy: { ...POLICY, limitMs: 60_000 } })
        for (const id of ids) emit(id)
        await eventually(() => expect([...(calls.answers ?? [])].sort()).to.deep.equal([...ids].sort()))
        emit('late')
        await eventually(() => expect(calls.answers).to.include('late'))
        expect(calls.hangs).to.have.length(POLICY.perTarget)
      })

      it('uses up the attempts of its events like a target that fails at once: none waits forever', async () => {
        deliver([hanging], { queue: await open(), policy: { ...POLICY, limitMs: 300, hungMs: 200 } })
        for (const id of ids) emit(id)
        const givenUp = () => log.lines.filter(({ message }) => message === 'job failed')
        await eventually(() => expect(givenUp()).to.have.length(ids.length))
        expect(calls.answers).to.have.length(ids.length)
        // Most attempts fail without a call, which would last 300 ms: there are three for each event.
        expect(calls.hangs?.length).to.be.below(ids.length / 2)
      })
    })
  }

  describe('when the queue is unavailable', () => {
    const failing = (times: number): { queue: Jobs; added: JobRequest[] } => {
      const added: JobRequest[] = []
      let left = times
      const enqueue = async (job: JobRequest) => {
        left -= 1
        if (left >= 0) throw unavailable('no queue')
        added.push(job)
      }
      return { queue: { ...jobs, enqueue, work: () => {} }, added }
    }

    it('retries after a second', async () => {
      const { queue, added } = failing(1)
      deliver([listener('a', { durable: true }).plugin], { queue })
      emit('x')
      await eventually(() => expect(added).to.have.length(1))
      expect(log.lines).to.deep.equal([])
    })

    it('logs the lost event after the time limit', async () => {
      bus = inProcessEventBus(log, { limitMs: 100 })
      const { queue, added } = failing(100)
      deliver([listener('a', { durable: true }).plugin], { queue })
      emit('x')
      await eventually(() => expect(log.lines.map(({ level }) => level)).to.include('error'))
      const lost = log.lines.find(({ level }) => level === 'error')
      expect(lost?.fields.kind).to.equal('event-a')
      expect(lost?.fields.jobId).to.match(/^evt_/)
      expect(added).to.be.empty
    })
  })

  describe('an original that is deleted with many derivatives', () => {
    for (const [count, parts] of [
      [0, [0]],
      [1, [1]],
      [50, [50]],
      [51, [50, 1]],
      [1234, [...Array.from({ length: 24 }, () => 50), 34]],
    ] as const) {
      it(`is split into ${parts.length} events with ${count} for a durable plugin, and is one event for others`, async () => {
        const told: Array<{ durable: boolean; derivatives: readonly string[]; id: string }> = []
        const plugin = (durable: boolean): EventPlugin => ({
          name: durable ? 'a' : 'b',
          durable,
          on: {
            'original.deleted': ({ derivatives }, { id }) => void told.push({ durable, derivatives, id }),
          },
        })
        deliver([plugin(true), plugin(false)])
        // As long as keys may be, and of letters that take two bytes in JSON.
        const derivatives = Array.from({ length: count }, (_, i) => `${'"'.repeat(508)}${1000 + i}` as never)
        bus.emit('original.deleted', { ...PLACE, derivatives })
        await eventually(() => expect(told).to.have.length(parts.length + 1))
        const [whole, queued] = [told.filter((each) => !each.durable), told.filter((each) => each.durable)]
        expect(whole[0]?.derivatives).to.deep.equal(derivatives)
        const sizes = queued.map((each) => each.derivatives.length)
        expect(sizes.sort((a, b) => b - a)).to.deep.equal(parts)
        expect(queued.flatMap((each) => each.derivatives).sort()).to.deep.equal(derivatives)
        expect(new Set(queued.map(({ id }) => id)).size).to.equal(parts.length)
        expect(queued.map(({ id }) => id)).to.include(whole[0]?.id)
      })
    }
  })
})
