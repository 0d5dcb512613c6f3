import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { embeddedUsage } from '../../../src/adapters/usage/embedded.ts'
import { USAGE_RETENTION_DAYS } from '../../../src/core/ports/usage.ts'
import { dayOf, daysBefore } from '../../../src/core/text/day.ts'
import { usageStoreContract } from '../../contracts/usage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

usageStoreContract('embedded', async () => {
  const folder = await temporaryFolder()
  const store = await embeddedUsage(folder)
  return {
    store,
    elsewhere: store,
    close: async () => {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('embedded usage', () => {
  it('has its counts after a restart, for the retention time only', async () => {
    const folder = await temporaryFolder()
    let now = Date.parse('2026-11-22T12:00:00Z')
    const days = [daysBefore(dayOf(now), 1), dayOf(now)]
    const countedDays = async () => {
      const store = await embeddedUsage(folder, { now: () => now })
      const found = await store.read('a', days)
      await store.close()
      return found.filter(({ counts }) => counts.uploads === 1).map(({ day }) => day)
    }
    const first = await embeddedUsage(folder, { now: () => now })
    await first.add(days.map((day) => ({ clientId: 'a', day, counts: { uploads: 1 } })))
    await first.close()
    expect(await countedDays()).to.deep.equal(days)
    now += (USAGE_RETENTION_DAYS - 1) * 86_400_000
    expect(await countedDays()).to.deep.equal(days)
    now += 86_400_000
    expect(await countedDays()).to.deep.equal([days[1]])
    now += 86_400_000
    expect(await countedDays()).to.deep.equal([])
    await rm(folder, { recursive: true })
  })
})
