import { inProcessHandover } from '../../../src/adapters/handover/in-process.ts'
import { handoverContract } from '../../contracts/handover.ts'

handoverContract('within one process', async () => {
  const handover = inProcessHandover()
  return { handover, elsewhere: handover, close: async () => {} }
})
