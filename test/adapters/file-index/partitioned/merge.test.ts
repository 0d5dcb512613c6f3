import { expect } from 'chai'
import fc from 'fast-check'
import {
  joinPages,
  type ListPage,
  mergeSorted,
  type PageRange,
} from '../../../../src/adapters/file-index/partitioned/merge.ts'
import { holds } from '../../../contracts/property.ts'

const inBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

// Among few others, characters whose order in UTF-16 is not that of their bytes.
const texts = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\u{ffff}', '\u{1f389}'), maxLength: 4 })
const divided = fc.uniqueArray(fc.tuple(texts, fc.nat(6)), { selector: ([text]) => text, maxLength: 60 })

describe('the merged list of several partitions', () => {
  it('has each item once and in order, in pages of any size, in both directions, whatever is left out', () =>
    holds(
      fc.asyncProperty(
        divided,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom('up' as const, 'down' as const),
        fc.integer({ min: 1, max: 3 }),
        async (all, count, limit, direction, of) => {
          const order = direction === 'up' ? inBytes : (one: string, other: string) => inBytes(other, one)
          const isKept = (text: string) => text.length % of === 0
          const lists = Array.from({ length: count }, (_, i) =>
            all
              .filter(([, list]) => list % count === i)
              .map(([text]) => text)
              .sort(order),
          )
          const read = async (list: readonly string[], { after, limit: most }: PageRange) => {
            const rest = after === undefined ? list : list.filter((text) => order(text, after) > 0)
            const page = rest.slice(0, most)
            const items = page.filter(isKept).map((text) => ({ position: text, item: text }))
            return { items, next: page.length < most ? undefined : page.at(-1) }
          }
          const found: string[] = []
          for (let page: ListPage<string> | undefined; !page || page.next !== undefined; ) {
            page = await mergeSorted({
              ...{ lists, direction, limit, read },
              ...(page?.next === undefined ? {} : { after: page.next }),
            })
            expect(page.items.length).to.be.at.most(limit)
            found.push(...page.items.map(({ item }) => item))
          }
          expect(found).to.deep.equal(
            all
              .map(([text]) => text)
              .filter(isKept)
              .sort(order),
          )
        },
      ),
    ))

  it('has full pages of items that are in all lists', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `folder-${String(i).padStart(2, '0')}`)
    const { items, next } = await mergeSorted({
      lists: Array.from({ length: 64 }, () => names),
      limit: 30,
      combine: (one: number, other: number) => one + other,
      read: async (list, { limit }) => ({
        items: list.slice(0, limit).map((position) => ({ position, item: 1 })),
        next: list[limit - 1],
      }),
    })
    expect(items.map(({ position }) => position)).to.deep.equal(names.slice(0, 30))
    expect(new Set(items.map(({ item }) => item))).to.deep.equal(new Set([64]))
    expect(next).to.equal(names[29])
  })

  it('combines the items of one position', async () => {
    const lists = [
      ['a', 'c'],
      ['a', 'b'],
      ['a', 'b'],
    ]
    const { items, next } = await mergeSorted({
      lists,
      limit: 10,
      combine: (one: number, other: number) => one + other,
      read: async (list) => ({ items: list.map((position) => ({ position, item: 1 })), next: undefined }),
    })
    expect(items.map(({ position, item }) => `${position}${item}`)).to.deep.equal(['a3', 'b2', 'c1'])
    expect(next).to.equal(undefined)
  })

  /** Lists of 100 positions each, and the numbers of the lists that were read, with how many positions. */
  function recorded(isKept: (text: string) => boolean = () => true) {
    const reads: Array<{ number: number; limit: number }> = []
    const lists = [0, 1, 2, 3].map((number) => ({
      number,
      // The first list has all of the first items.
      texts: Array.from(
        { length: 100 },
        (_, i) => `${number === 0 ? 'a' : 'b'}${String(i).padStart(3, '0')} ${number}`,
      ),
    }))
    const read = async ({ number, texts: all }: (typeof lists)[0], { after, limit }: PageRange) => {
      reads.push({ number, limit })
      const from = after === undefined ? 0 : all.indexOf(after) + 1
      const page = all.slice(from, from + limit)
      return {
        items: page.filter(isKept).map((position) => ({ position, item: position })),
        next: page.length < limit ? undefined : page.at(-1),
      }
    }
    return { lists, reads, read }
  }

  it('reads each list for its share, and again only those that have more of the next items', async () => {
    const { lists, reads, read } = recorded()
    const { items } = await mergeSorted({ lists, limit: 20, read })
    expect(items.map(({ item }) => item)).to.deep.equal(lists[0]?.texts.slice(0, 20))
    expect(
      reads
        .slice(0, 4)
        .map(({ number }) => number)
        .sort(),
    ).to.deep.equal([0, 1, 2, 3])
    expect(new Set(reads.slice(4).map(({ number }) => number))).to.deep.equal(new Set([0]))
  })

  it('reads a bounded number of positions for a page, also where none has an item', async () => {
    const { lists, reads, read } = recorded(() => false)
    const { items, next, looked } = await mergeSorted({ lists, limit: 20, read })
    expect(items).to.deep.equal([])
    expect(next).to.be.a('string')
    const perList = Math.max(...reads.map(({ limit }) => limit))
    const positions = reads.reduce((sum, { limit }) => sum + limit, 0)
    expect(positions).to.be.at.most(20 + 2 * lists.length * perList)
    expect(looked).to.equal(positions)
  })

  it('has a file once that was renamed between the reads of two partitions, by its new name', () => {
    const page = (...items: Array<[position: string, key: string]>): ListPage<string> => ({
      items: items.map(([position, item]) => ({ position, item })),
      next: undefined,
    })
    const pages = [page(['a', '1'], ['b', '2']), page(['c', '1'], ['d', '3'])] as const
    const joined = joinPages(pages, { limit: 9, nameOf: (key) => key })
    expect(joined.items.map(({ position, item }) => position + item)).to.deep.equal(['b2', 'c1', 'd3'])
  })
})
