import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { embeddedDeliveryLog } from '../../../src/adapters/delivery-log/embedded.ts'
import { openResilientLevel } from '../../../src/adapters/level/resilient-level.ts'
import { deliveryLogContract, loggedDelivery } from '../../contracts/delivery-log.ts'
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
})
