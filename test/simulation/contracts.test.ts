import { fileIndexContract } from '../contracts/file-index/file-index.ts'
import { ledgerContract } from '../contracts/ledger.ts'
import { indexStore } from './stores/index-store.ts'
import { ledgerStore } from './stores/ledger-store.ts'
import { World } from './world/world.ts'

/** A world without faults, whose events happen at once. */
function liveWorld() {
  const world = new World(1)
  let isOver = false
  const living = world.live(() => isOver)
  return {
    world,
    async close() {
      isOver = true
      await living
    },
  }
}

fileIndexContract(
  'simulated',
  async () => {
    const { world, close } = liveWorld()
    const { remote } = await indexStore(world)
    return { index: remote, elsewhere: remote, close }
  },
  { steps: 300, hasStates: false },
)

ledgerContract('simulated', async () => {
  const { world, close } = liveWorld()
  const ledger = await ledgerStore(world)
  return { ledger, elsewhere: ledger, close }
})
