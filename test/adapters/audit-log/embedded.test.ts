import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { embeddedAuditLog } from '../../../src/adapters/audit-log/embedded.ts'
import { auditStoreContract } from '../../contracts/audit-log.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

auditStoreContract('embedded', async (most, mostRefused) => {
  const folder = await temporaryFolder()
  const store = await embeddedAuditLog(folder, { most, ...(mostRefused ? { mostRefused } : {}) })
  return {
    store,
    elsewhere: store,
    async close() {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('embedded audit log', () => {
  it('has its entries after a restart, in their order although the clock was set back', async () => {
    const folder = await temporaryFolder()
    const entry = (at: number, target: string) => ({
      at,
      member: null,
      address: '',
      action: 'file.move',
      target,
    })
    const first = await embeddedAuditLog(folder, { most: 3 })
    for (const [at, target] of [
      [5000, 'a'],
      [5000, 'b'],
    ] as const)
      await first.append(entry(at, target))
    await first.close()
    const second = await embeddedAuditLog(folder, { most: 3 })
    for (const [at, target] of [
      [4000, 'c'],
      [60_000, 'd'],
    ] as const)
      await second.append(entry(at, target))
    const found = await second.list({ limit: 10 })
    expect(found.map(({ target, at }) => [target, at])).to.deep.equal([
      ['d', 60_000],
      ['c', 4000],
      ['b', 5000],
    ])
    await second.close()
    await rm(folder, { recursive: true })
  })
})
