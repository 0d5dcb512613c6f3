import { expect } from 'chai'
import { ownObjects } from '../../../src/adapters/bucket/own-objects.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { foreignTest } from '../../../src/core/foreign/foreign-path.ts'
import type { Bucket, Buckets } from '../../../src/core/ports/bucket.ts'
import { byBytes } from '../../../src/core/text/byte-order.ts'

const FOREIGN = ['a/1.txt', 'a/b/2.txt', 'a/b/3.txt', 'a/z.txt', 'a/\u{10ffff}.txt', 'c/d/4.txt', 'c/d/5.txt']
const OWN = ['0.txt', 'a-.txt', 'a.txt', 'a0.txt', 'c/c.txt', 'c/d.txt', 'c/e.txt', 'z.txt', '😀.txt']
const ALL = [...FOREIGN, ...OWN].sort(byBytes)

describe('a list of own objects next to those of other systems', () => {
  let read: string[]
  const bucket = {
    async *listObjects(prefix, { after = '' } = {}) {
      for (const key of ALL) {
        if (!key.startsWith(prefix) || byBytes(key, after) <= 0) continue
        read.push(key)
        yield { key: storedKey(key), size: 1, tag: key }
      }
    },
  } as Partial<Bucket> as Bucket
  const listed = async (after: string) => {
    read = []
    const buckets = { of: () => bucket } as Partial<Buckets> as Buckets
    const own = ownObjects(buckets, foreignTest(['a', 'a/b/', '/c/d']))
    const keys: string[] = []
    for await (const { key } of own.of({ id: 'x', token: '' }).listObjects('', { after })) keys.push(key)
    return keys
  }

  it('has all own objects, and reads one or two of each other folder', async () => {
    expect(await listed('')).to.deep.equal(OWN.toSorted(byBytes))
    expect(read.filter((key) => FOREIGN.includes(key))).to.deep.equal([
      'a/1.txt',
      'a/\u{10ffff}.txt',
      'c/d/4.txt',
    ])
  })

  it('continues after any key', async () => {
    for (const after of ALL)
      expect(await listed(after), after).to.deep.equal(
        OWN.filter((key) => byBytes(key, after) > 0).sort(byBytes),
      )
  })
})
