import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import { locksContract } from '../../contracts/locks/locks.ts'

locksContract('in process', async () => {
  const locks = inProcessLocks()
  return { locks, elsewhere: locks, waits: async () => {}, close: async () => {} }
})
