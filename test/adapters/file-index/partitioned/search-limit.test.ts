import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { partitionedIndex } from '../../../../src/adapters/file-index/partitioned/partitioned.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import type { FileSearch } from '../../../../src/core/ports/index/file-search.ts'
import { neverMoving } from './moving.ts'

describe('a search in all partitions', () => {
  const searching = (search: FileSearch['search']) => {
    const all = Array.from({ length: PARTITIONS }, () => ({ search }) as unknown as FileIndex)
    return partitionedIndex(all, neverMoving(all, PARTITIONS)).search('one', { name: 'abc' }, { most: 100 })
  }

  it('compares no more files than its maximum, although each partition may have as many', async () => {
    let compared = 0
    const found = await searching(async (_client, _term, { most, allowance }) => {
      expect(most).to.equal(100)
      if (!allowance?.takeFiles(30)) return undefined
      compared += 30
      return []
    })
    expect(found).to.equal(undefined)
    expect(compared).to.equal(90)
  })

  it('ends in the others when one finds too many', async () => {
    let searched = 0
    const found = await searching(async (_client, _term, { allowance }) => {
      searched += 1
      const isFirst = searched === 1
      await turn()
      return isFirst || !allowance?.takeTerms(1) ? undefined : expect.fail('continues')
    })
    expect(found).to.equal(undefined)
    expect(searched).to.equal(PARTITIONS)
  })
})
