import { expect } from 'chai'
import { derivativeKey, recordKey } from '../../../../src/core/files/object-key.ts'
import { fileReplaced, unavailable } from '../../../../src/core/problem.ts'
import { rejection } from '../../../support/rejection.ts'
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
        run: async () => ({ id: 'run 2', data: 'data', isCompared: true }),
      }))
      await storage.start().completion.complete(signal)
      expect(isWhole).to.equal(true)
      expect((await storage.index.find(ref)).original).to.equal(undefined)
      expect((await storage.index.totals('first')).stored.files).to.equal(1)
    } finally {
      await storage.close()
    }
  })

  it('is followed by the second one after a failure, although the store does not name its runs', async () => {
    const storage = await openCompared()
    try {
      const derivative = derivativeKey(textKey(1), 'w=1')
      await storage.store(textKey(1), { indexed: false, derivatives: [derivative] })
      storage.hideRuns()
      const bucket = storage.bucketOf('first')
      bucket.before = (call) => {
        if (call === `find ${derivative}`) throw unavailable('The bucket is down.')
      }
      expect(await rejection(storage.start().completion.complete(signal))).to.have.property('status', 503)
      expect(await storage.index.isComplete()).to.equal(true)
      bucket.before = () => {}
      await storage.start().completion.complete(signal)
      const ref = { clientId: 'first', key: textKey(1) }
      expect((await storage.index.find(ref, derivative)).derivative?.state).to.equal('stored')
      bucket.calls.length = 0
      await storage.start().completion.complete(signal)
      expect(bucket.calls).to.deep.equal([])
    } finally {
      await storage.close()
    }
  })

  it('continues after a record that is replaced during each read', async () => {
    const storage = await openCompared()
    try {
      for (const number of [1, 2]) await storage.store(textKey(number), { indexed: false })
      storage.bucketOf('first').before = (call) => {
        if (call === `find ${recordKey(textKey(1))}`) throw fileReplaced()
      }
      const { completion, log } = storage.start()
      await completion.complete(signal)
      expect(await storage.isCompared()).to.equal(true)
      expect((await storage.index.totals('first')).stored.files).to.equal(1)
      const warnings = log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)
      expect(warnings).to.have.length(1)
      expect(warnings[0]).to.deep.include({ kind: 'failed', key: recordKey(textKey(1)) })
    } finally {
      await storage.close()
    }
  })
})
