import { expect } from 'chai'
import { type DayUsage, USAGE_NAMES, type UsageStore } from '../../src/core/ports/usage.ts'
import { daysBetween } from '../../src/core/text/day.ts'

export interface OpenedUsageStore {
  store: UsageStore
  /** The same counts as another process sees them; where there is only one process, `store` itself. */
  elsewhere: UsageStore
  close(): Promise<void>
}

const DAY = '2026-11-22'
const ONE_OF_EACH = Object.fromEntries(USAGE_NAMES.map((name, i) => [name, i + 1]))

/** What every {@link UsageStore} has to do, seen through the port alone. */
export function usageStoreContract(name: string, open: () => Promise<OpenedUsageStore>): void {
  describe(`${name}: the contract of UsageStore`, () => {
    let opened: OpenedUsageStore
    let store: UsageStore
    let elsewhere: UsageStore
    let clientId: string
    before(async () => {
      opened = await open()
      store = opened.store
      elsewhere = opened.elsewhere
    })
    after(() => opened.close())
    beforeEach(() => {
      clientId = `client ${Math.random()}`
    })

    /** What is counted of one client, without the days that have no counts. */
    async function counted(id = clientId, days = [DAY]): Promise<Record<string, DayUsage['counts']>> {
      const found = await elsewhere.read(id, days)
      for (const one of found) expect([one.clientId, days.includes(one.day)]).to.deep.equal([id, true])
      expect(new Set(found.map(({ day }) => day)), 'each day once').to.have.property('size', found.length)
      const used = found.filter(({ counts }) => Object.keys(counts).length > 0)
      return Object.fromEntries(used.map(({ day, counts }) => [day, counts]))
    }

    it('returns nothing for an unknown client or day', async () => {
      expect(await counted()).to.deep.equal({})
      await store.add([{ clientId, day: DAY, counts: { uploads: 1 } }])
      expect(await counted(clientId, ['2026-11-21', '2026-11-23'])).to.deep.equal({})
      expect(await counted(`${clientId}0`)).to.deep.equal({})
      expect(await store.read(clientId, [])).to.deep.equal([])
    })

    it('returns every count as a number, in all processes', async () => {
      await store.add([{ clientId, day: DAY, counts: ONE_OF_EACH }])
      expect(await counted()).to.deep.equal({ [DAY]: ONE_OF_EACH })
    })

    it('adds to existing counts, and keeps the other counts of the day', async () => {
      await store.add([{ clientId, day: DAY, counts: ONE_OF_EACH }])
      await elsewhere.add([{ clientId, day: DAY, counts: { deliveries: 10, deliveredBytes: 0 } }])
      expect(await counted()).to.deep.equal({
        [DAY]: { ...ONE_OF_EACH, deliveries: Number(ONE_OF_EACH.deliveries) + 10 },
      })
    })

    it('sums equal entries of one call', async () => {
      await store.add([
        { clientId, day: DAY, counts: { uploads: 1 } },
        { clientId, day: DAY, counts: { uploads: 2, uploadedBytes: 5 } },
      ])
      expect(await counted()).to.deep.equal({ [DAY]: { uploads: 3, uploadedBytes: 5 } })
    })

    it('accepts an empty list', async () => {
      await store.add([])
      await store.add([{ clientId, day: DAY, counts: {} }])
      expect(await counted()).to.deep.equal({})
    })

    it('counts petabytes to the byte', async () => {
      const uploadedBytes = 2 ** 52
      await store.add([{ clientId, day: DAY, counts: { uploadedBytes } }])
      await store.add([{ clientId, day: DAY, counts: { uploadedBytes: 1 } }])
      expect(await counted()).to.deep.equal({ [DAY]: { uploadedBytes: uploadedBytes + 1 } })
    })

    it('separates clients and days, whatever the IDs contain', async () => {
      const ids = ['', 'a', 'a/2026-11-22', 'a b', 'a:b', 'ä', '%61', '__proto__', '*', '[a]'].map(
        (id) => `${clientId}${id}`,
      )
      const days = ['2025-12-31', '2026-01-01', '2026-11-22']
      const usage = ids.flatMap((id, i) =>
        days.map((day, j) => ({ clientId: id, day, counts: { deliveries: 100 * i + j + 1 } })),
      )
      await store.add(usage)
      for (const [i, id] of ids.entries())
        expect(await counted(id, days), id).to.deep.equal(
          Object.fromEntries(days.map((day, j) => [day, { deliveries: 100 * i + j + 1 }])),
        )
    })

    it('returns only the requested days, up to a whole year', async () => {
      const all = daysBetween('2026-01-01', '2026-12-31')
      await store.add(all.map((day, i) => ({ clientId, day, counts: { uploads: i + 1 } })))
      expect(Object.keys(await counted(clientId, all))).to.have.length(365)
      const some = ['2026-12-31', '2026-01-01', '2026-03-01']
      expect(await counted(clientId, some)).to.deep.equal({
        '2026-12-31': { uploads: 365 },
        '2026-01-01': { uploads: 1 },
        '2026-03-01': { uploads: 60 },
      })
    })

    it('loses no concurrent additions', async () => {
      const days = ['2026-11-21', DAY]
      await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          (i % 2 ? store : elsewhere).add(
            days.map((day) => ({ clientId, day, counts: { deliveries: 1, deliveredBytes: i } })),
          ),
        ),
      )
      const sum = { deliveries: 100, deliveredBytes: 4950 }
      expect(await counted(clientId, days)).to.deep.equal({ '2026-11-21': sum, [DAY]: sum })
    })
  })
}
