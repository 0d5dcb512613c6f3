import { expect } from 'chai'
import { derivativeKey, type ObjectKey, recordKey, storedKey } from '../../../../src/core/files/object-key.ts'
import { byBytes } from '../../../../src/core/text/byte-order.ts'
import { openListing } from '../../../../src/service/maintenance/comparison/listing.ts'
import { rejection } from '../../../support/rejection.ts'
import { inMemory, textKey } from '../../../support/stored/compared.ts'

const { signal } = new AbortController()

describe('the list of a bucket for a comparison', () => {
  it('has every file after any object, also next to objects of other programs', async () => {
    const originals = ['report-2024', 'report', 'report.b', 'report b'].flatMap((folder) =>
      [1, 2].map((number) => textKey(number, folder)),
    )
    const foreign = ['report', 'report.b', 'report-2024/x', '.sluice/meta/report.json', '.sluice/meta/report']
    const derivatives = originals.map((key) => derivativeKey(key, 'w=1'))
    const keys = [...originals, ...originals.map(recordKey), ...derivatives, ...foreign.map(storedKey)]
    const objects = new Map(keys.map((key) => [key, Buffer.from('x')]))
    const bucket = inMemory({ objects, calls: [], before: () => {} })
    for (const after of ['', ...keys.filter((key) => !key.startsWith('.sluice'))]) {
      const found: ObjectKey[] = []
      const listing = openListing(bucket, { after, batchKeys: 1 })
      for (let more = true; more; more = listing.position() !== undefined)
        for (const file of (await listing.next(signal)).files.values())
          if (file.record && file.size === 1 && file.derivatives.length === 1) found.push(file.key)
      const expected = originals.filter((key) => byBytes(key, after) > 0).sort(byBytes)
      expect(found, after).to.deep.equal(expected)
    }
  })

  it('ends where the store ignores its beginning, and refuses another order', async () => {
    const keys = [1, 2, 3].map((number) => textKey(number))
    const objects = new Map(keys.map((key) => [key, Buffer.from('x')]))
    const bucket = inMemory({ objects, calls: [], before: () => {} })
    const { listObjects } = bucket
    bucket.listObjects = (prefix) => listObjects(prefix)
    const { files } = await openListing(bucket, { after: textKey(2), batchKeys: 9 }).next(signal)
    expect([...files.keys()]).to.deep.equal([textKey(3)])
    bucket.listObjects = async function* () {
      for (const key of keys.toReversed()) yield { key, size: 1, tag: 'x' }
    }
    const failure = await rejection(openListing(bucket, { after: '', batchKeys: 9 }).next(signal))
    expect(failure).to.have.property('status', 503)
  })

  it('ends with its signal', async () => {
    const objects = new Map([[textKey(1), Buffer.from('x')]])
    const listing = openListing(inMemory({ objects, calls: [], before: () => {} }), {
      after: '',
      batchKeys: 1,
    })
    const reason = new Error('stopped')
    expect(await listing.next(AbortSignal.abort(reason)).catch((error) => error)).to.equal(reason)
  })
})
