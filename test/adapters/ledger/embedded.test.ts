import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { embeddedLedger } from '../../../src/adapters/ledger/embedded.ts'
import { openResilientLevel } from '../../../src/adapters/level/resilient-level.ts'
import { ledgerContract } from '../../contracts/ledger.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

ledgerContract('embedded', async () => {
  const folder = await temporaryFolder()
  const ledger = await embeddedLedger(folder)
  return {
    ledger,
    elsewhere: ledger,
    close: async () => {
      await ledger.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('embedded ledger', () => {
  it('stores texts after a restart, and removes expired ones', async () => {
    const folder = await temporaryFolder()
    let time = 1_000_000
    const now = () => time
    const first = await embeddedLedger(folder, { now })
    await first.replace('a', undefined, '1', { forgetAt: time + 1000 })
    await first.replace('b', undefined, '2', { forgetAt: time + 10_000_000 })
    await first.close()
    time += 4_000_000
    const second = await embeddedLedger(folder, { now })
    expect(await second.find('b')).to.equal('2')
    await second.replace('c', undefined, '3', { forgetAt: time + 1000 })
    await second.close()
    const level = await openResilientLevel(folder)
    expect(await level.names({ gt: '', lt: '~' })).to.deep.equal(['b', 'c'])
    await level.close()
    await rm(folder, { recursive: true })
  })
})
