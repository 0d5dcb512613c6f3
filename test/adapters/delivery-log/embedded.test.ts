import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { embeddedDeliveryLog } from '../../../src/adapters/delivery-log/embedded.ts'
import { openResilientLevel } from '../../../src/adapters/level/resilient-level.ts'
import { deliveryLogContract, loggedDelivery } from '../../contracts/delivery-log.ts'
import { recordLog } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

deliveryLogContract('embedded', async (options) => {
  const folder = await temporaryFolder()
  const log = await embeddedDeliveryLog(folder, options)
  return {
    log,
    elsewhere: log,
    close: async () => {
      await log.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('embedded delivery log', () => {
  it('has its deliveries after a restart, and no rows of those that were dropped', async () => {
    const folder = await temporaryFolder()
    const now = () => loggedDelivery(0).occurredAt
    const limits = { retentionMs: 60_000, now }
    const first = await embeddedDeliveryLog(folder, { maxPerReceiver: 3, ...limits })
    for (const number of [3, 1, 2]) await first.add(loggedDelivery(number))
    await first.close()
    const second = await embeddedDeliveryLog(folder, { maxPerReceiver: 2, ...limits })
    expect(await second.find(loggedDelivery(2).id)).to.deep.equal(loggedDelivery(2))
    await second.add(loggedDelivery(4))
    const ids = (await second.list({ limit: 9 })).map(({ id }) => id)
    expect(ids).to.deep.equal([4, 3].map((number) => loggedDelivery(number).id))
    await second.close()
    const level = await openResilientLevel(folder)
    expect(await level.names({ gt: '', lt: '~' })).to.have.length(4)
    await level.close()
    await rm(folder, { recursive: true })
  })

  it('is replaced by an empty one when it is damaged', async () => {
    const folder = await temporaryFolder()
    const log = recordLog()
    const open = () =>
      embeddedDeliveryLog(join(folder, 'log'), {
        maxPerReceiver: 3,
        retentionMs: 60_000,
        now: () => loggedDelivery(0).occurredAt,
        refilled: { log, message: 'the log was damaged' },
      })
    const first = await open()
    await first.add(loggedDelivery(1))
    await first.close()
    for (const name of await readdir(join(folder, 'log')))
      if (name.startsWith('MANIFEST')) await truncate(join(folder, 'log', name))
    const second = await open()
    expect(await second.list({ limit: 9 })).to.deep.equal([])
    await second.add(loggedDelivery(2))
    expect(await second.find(loggedDelivery(2).id)).to.deep.equal(loggedDelivery(2))
    expect(log.lines.map(({ message }) => message)).to.deep.equal(['the log was damaged'])
    await second.close()
    await rm(folder, { recursive: true })
  })
})
