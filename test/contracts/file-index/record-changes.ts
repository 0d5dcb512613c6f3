import { expect } from 'chai'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { NOW, newRef } from './file-index-states.ts'

/** What every {@link FileIndex} has to know of records that are being changed. */
export function recordChangesContract(opened: () => { index: FileIndex; elsewhere: FileIndex }): void {
  describe('changes of records', () => {
    it('are returned from the instant at which their lease ends until they have ended, each separately', async () => {
      const { index, elsewhere } = opened()
      const ref = newRef()
      const first = { ref, until: NOW }
      const second = { ref, until: NOW + 5 }
      const overdue = async (now: number) =>
        (await elsewhere.overdueChanges(now)).filter((change) => change.ref.clientId === ref.clientId)
      await index.beginChange(first)
      await index.beginChange(second)
      expect(await overdue(NOW - 1)).to.deep.equal([])
      expect(await overdue(NOW)).to.deep.equal([first])
      expect(await overdue(NOW + 5)).to.deep.equal([first, second])
      await index.endChange(first)
      expect(await overdue(NOW + 5)).to.deep.equal([second])
      await index.endChange(second)
      await index.endChange(second)
      expect(await overdue(NOW + 5)).to.deep.equal([])
    })
  })
}
