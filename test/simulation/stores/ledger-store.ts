import { embeddedLedger } from '../../../src/adapters/ledger/embedded.ts'
import type { Ledger } from '../../../src/core/ports/ledger.ts'
import type { World } from '../world/world.ts'
import { lossyLevel } from './level.ts'

/** A ledger that all processes share. */
export async function ledgerStore(world: World): Promise<Ledger & { empty(): void }> {
  const level = lossyLevel(() => world.time)
  const ledger = await embeddedLedger(level, { now: () => Date.now() })
  return {
    find: (name) => world.request('ledger.find', () => ledger.find(name)),
    replace: (...step) => world.request('ledger.replace', () => ledger.replace(...step)),
    empty: () => level.empty(),
  }
}
