import { bucketContract } from '../contracts/bucket.ts'
import { fileIndexContract } from '../contracts/file-index/file-index.ts'
import { ledgerContract } from '../contracts/ledger.ts'
import { locksContract } from '../contracts/locks/locks.ts'
import { bucketStore } from './stores/bucket-store.ts'
import { indexStore } from './stores/index-store.ts'
import { ledgerStore } from './stores/ledger-store.ts'
import { lockStore } from './stores/lock-store.ts'
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

bucketContract('simulated', async () => {
  const { world, close } = liveWorld()
  return { buckets: bucketStore(world).buckets, close }
})

fileIndexContract('simulated', async () => {
  const { world, close } = liveWorld()
  const { remote } = await indexStore(world)
  return { index: remote, elsewhere: remote, close }
})

ledgerContract('simulated', async () => {
  const { world, close } = liveWorld()
  const ledger = await ledgerStore(world)
  return { ledger, elsewhere: ledger, close }
})

locksContract('simulated', async () => {
  const { world, close } = liveWorld()
  const locks = lockStore(world)
  return { locks, elsewhere: locks, waits: async () => {}, close }
})
