import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { EVENT_NAMES } from '../../src/core/events.ts'
import type { EventBus } from '../../src/core/ports/event-bus.ts'
import { eventually } from '../support/eventually.ts'
import { type RecordedLog, recordLog } from '../support/service.ts'

export interface OpenedEventBus {
  bus: EventBus
  close(): Promise<void>
}

/** What every {@link EventBus} has to do, seen through the port alone. `limitMs`: what one listener may take. */
export function eventBusContract(
  name: string,
  open: (options: { log: RecordedLog; limitMs: number }) => Promise<OpenedEventBus>,
): void {
  describe(`${name}: the contract of EventBus`, () => {
    const limitMs = 120
    let opened: OpenedEventBus
    let bus: EventBus
    let log: RecordedLog

    beforeEach(async () => {
      log = recordLog()
      opened = await open({ log, limitMs })
      bus = opened.bus
    })
    afterEach(() => opened.close())

    const emit = (clientId: string) => bus.emit('client.changed', { clientId })
    const warnings = () => log.lines.filter(({ level }) => level === 'warn')

    it('passes an event to every listener of its name, once and unchanged', async () => {
      const seen: unknown[] = []
      bus.on('client.changed', 'a', (event) => seen.push(['a', event]))
      bus.on('client.changed', 'b', (event) => seen.push(['b', event]))
      bus.on('archive.sent', 'c', (event) => seen.push(['c', event]))
      emit('x')
      const archive = { clientId: 'x', archiveName: 'ü.zip', entries: 1, errors: 0, bytes: 22 }
      bus.emit('archive.sent', archive)
      await bus.idle()
      expect(seen).to.deep.equal([
        ['a', { clientId: 'x' }],
        ['b', { clientId: 'x' }],
        ['c', archive],
      ])
      expect(log.lines).to.deep.equal([])
    })

    it('keeps the order in which events were emitted and listeners were added', async () => {
      const seen: string[] = []
      for (const label of ['a', 'b', 'c'])
        bus.on('client.changed', label, ({ clientId }) => seen.push(`${clientId}${label}`))
      for (let i = 0; i < 5; i += 1) emit(String(i))
      await bus.idle()
      expect(seen).to.deep.equal(
        [0, 1, 2, 3, 4].flatMap((i) => ['a', 'b', 'c'].map((label) => `${i}${label}`)),
      )
    })

    it('ignores an event without a listener', async () => {
      for (const each of EVENT_NAMES) bus.emit(each, {} as never)
      await bus.idle()
    })

    it('returns before any listener is called', async () => {
      let called = false
      bus.on('client.changed', 'a', () => {
        called = true
      })
      emit('x')
      expect(called).to.equal(false)
      await bus.idle()
      expect(called).to.equal(true)
    })

    for (const [how, fail] of Object.entries({
      throws: () => {
        throw new Error('broken')
      },
      rejects: async () => {
        await pause(1)
        throw new Error('broken')
      },
      'throws nothing in particular': () => {
        throw undefined
      },
    })) {
      it(`throws nothing when a listener ${how}, logs its name, and calls the others`, async () => {
        const seen: string[] = []
        bus.on('client.changed', 'the broken one', fail)
        bus.on('client.changed', 'the good one', ({ clientId }) => seen.push(clientId))
        emit('x')
        emit('y')
        await bus.idle()
        expect(seen).to.deep.equal(['x', 'y'])
        expect(warnings()).to.have.length(2)
        expect(JSON.stringify(warnings()[0])).to.include('the broken one').and.include('client.changed')
      })
    }

    it('does not wait for a listener that hangs: it aborts it, and calls the others', async () => {
      const seen: string[] = []
      let signal: AbortSignal | undefined
      bus.on('client.changed', 'the hanging one', (_, aborted) => {
        signal = aborted
        return new Promise(() => {})
      })
      const stopped: unknown[] = []
      bus.on('client.changed', 'the good one', ({ clientId }) => {
        seen.push(clientId)
        stopped.push(signal?.aborted)
      })
      const start = Date.now()
      emit('x')
      await eventually(() => expect(seen).to.deep.equal(['x']))
      expect(stopped).to.deep.equal([false])
      await bus.idle()
      // It would hang for ever.
      expect(Date.now() - start).to.be.above(limitMs - 5)
      expect(signal?.aborted).to.equal(true)
      expect(JSON.stringify(warnings())).to.include('the hanging one')
    })

    it('ignores a listener that fails after its timeout', async () => {
      bus.on('client.changed', 'late', async () => {
        await pause(limitMs + 20)
        throw new Error('too late')
      })
      emit('x')
      await bus.idle()
      await pause(40)
      expect(warnings()).to.have.length(1)
    })

    it('gives each call its own timeout, and aborts none that ends in time', async () => {
      const signals: AbortSignal[] = []
      bus.on('client.changed', 'a', async (_, signal) => {
        signals.push(signal)
        await pause(limitMs / 2)
        expect(signal.aborted).to.equal(false)
      })
      // The last of them ends when the time of the first is over twice.
      for (const clientId of ['x', 'y', 'z', 'w']) {
        emit(clientId)
        await pause(limitMs / 2)
      }
      await bus.idle()
      expect(signals).to.have.length(4)
      expect(log.lines).to.deep.equal([])
    })

    it('is idle when every listener has ended, including those of events emitted in the meantime', async () => {
      const ended: string[] = []
      bus.on('client.changed', 'slow', async ({ clientId }) => {
        await pause(10)
        if (clientId.length < 3) emit(`${clientId}x`)
        ended.push(clientId)
      })
      await bus.idle()
      emit('x')
      emit('y')
      await bus.idle()
      expect(ended.sort()).to.deep.equal(['x', 'xx', 'xxx', 'y', 'yx', 'yxx'])
    })
  })
}
