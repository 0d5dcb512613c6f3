import { expect } from 'chai'
import { recordKey } from '../../../../src/core/files/object-key.ts'
import { openCompared, textKey } from '../../../support/stored/compared.ts'

const { signal } = new AbortController()

describe('the first pass of a comparison', () => {
  it('adds no file that was deleted after its entry was read', async () => {
    const storage = await openCompared()
    try {
      for (const number of [1, 2]) await storage.store(textKey(number))
      await storage.start().completion.complete(signal)
      storage.restart()
      const ref = { clientId: 'first', key: textKey(1) }
      const { objects } = storage.bucketOf('first')
      let isWhole = false
      storage.wrapIndex((index) => ({
        isWhole: async () => isWhole,
        async filesBetween(...args) {
          const page = await index.filesBetween(...args)
          if (!isWhole && (await index.beginRemoval(ref, { cause: 'delete', leaseUntil: 2, now: 1 }))) {
            for (const key of [textKey(1), recordKey(textKey(1))]) objects.delete(key)
            await index.finishRemoval(ref, 1)
          }
          return page
        },
        markComplete: async () => {
          isWhole = true
        },
        // No second pass, which would remove the entry.
        run: async () => ({ id: 'run 2', isCompared: true }),
      }))
      await storage.start().completion.complete(signal)
      expect(isWhole).to.equal(true)
      expect((await storage.index.find(ref)).original).to.equal(undefined)
      expect((await storage.index.totals('first')).stored.files).to.equal(1)
    } finally {
      await storage.close()
    }
  })
})
