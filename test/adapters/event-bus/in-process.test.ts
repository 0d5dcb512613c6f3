import { expect } from 'chai'
import { inProcessEventBus } from '../../../src/adapters/event-bus/in-process.ts'
import { eventBusContract } from '../../contracts/event-bus.ts'
import { recordLog } from '../../support/service.ts'

eventBusContract('in process', async ({ log, limitMs }) => ({
  bus: inProcessEventBus(log, { limitMs }),
  close: async () => {},
}))

describe('in process: the log line of a listener that fails', () => {
  it('has the error, the event and the plugin', async () => {
    const log = recordLog()
    const bus = inProcessEventBus(log)
    const err = new Error('broken')
    bus.on('client.changed', 'a plugin', () => {
      throw err
    })
    bus.emit('client.changed', { clientId: 'x' })
    await bus.idle()
    expect(log.lines).to.deep.equal([
      {
        level: 'warn',
        message: 'an event handler failed',
        fields: { err, event: 'client.changed', plugin: 'a plugin' },
      },
    ])
  })
})
