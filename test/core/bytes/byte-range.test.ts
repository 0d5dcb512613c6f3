import { expect } from 'chai'
import fc from 'fast-check'
import { parseRange } from '../../../src/core/bytes/byte-range.ts'
import { holds } from '../../contracts/property.ts'

const range = (start: number, end: number) => ({ start, end })

describe('byte ranges', () => {
  for (const [header, expected] of [
    // The examples of RFC 9110 section 14.1.2, for a file of 10000 bytes.
    ['bytes=0-499', [range(0, 499)]],
    ['bytes=500-999', [range(500, 999)]],
    ['bytes=-500', [range(9500, 9999)]],
    ['bytes=9500-', [range(9500, 9999)]],
    ['bytes=0-0,-1', [range(0, 0), range(9999, 9999)]],
    ['bytes= 0-999, 4500-5499, -1000', [range(0, 999), range(4500, 5499), range(9000, 9999)]],
    // Bounds.
    ['bytes=0-', [range(0, 9999)]],
    ['bytes=0-9999', [range(0, 9999)]],
    ['bytes=0-10000', [range(0, 9999)]],
    ['bytes=9999-9999', [range(9999, 9999)]],
    ['bytes=9999-99999999999999999999999', [range(9999, 9999)]],
    ['bytes=-10000', [range(0, 9999)]],
    ['bytes=-10001', [range(0, 9999)]],
    ['bytes=-99999999999999999999999', [range(0, 9999)]],
    ['bytes=007-007', [range(7, 7)]],
    ['BYTES=1-2', [range(1, 2)]],
    ['bytes=1-2 \t,\t 4-5', [range(1, 2), range(4, 5)]],
    // Empty elements of a list.
    ['bytes=,1-2, ,\t,4-5,', [range(1, 2), range(4, 5)]],
    // As many as are answered, one after another without a gap.
    [
      'bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-',
      [0, 1, 2, 3, 4, 5, 6].map((at) => range(at, at)).concat(range(7, 9999)),
    ],
    // In the order asked.
    ['bytes=5-6,1-2', [range(5, 6), range(1, 2)]],
    // An unsatisfiable range is omitted next to a satisfiable one.
    ['bytes=10000-,0-1', [range(0, 1)]],
    ['bytes=-0,0-1', [range(0, 1)]],
  ] as const) {
    it(`parses ${header}`, () => {
      expect(parseRange(header, 10_000)).to.deep.equal(expected)
    })
  }

  for (const [header, size] of [
    ['bytes=10000-', 10_000],
    ['bytes=10000-10001', 10_000],
    ['bytes=99999999999999999999999-', 10_000],
    ['bytes=-0', 10_000],
    ['bytes=10000-,20000-20001,-0', 10_000],
    ['bytes=0-', 0],
    ['bytes=0-0', 0],
    ['bytes=-1', 0],
  ] as const) {
    it(`finds no satisfiable range in ${header} of ${size} bytes`, () => {
      expect(parseRange(header, size)).to.equal('unsatisfiable')
    })
  }

  it('reads what was written: up to 8 ranges that do not overlap, in any order', () => {
    const bounds = fc.uniqueArray(fc.nat(9999), { minLength: 2, maxLength: 16 })
    return holds(
      fc.property(bounds, fc.nat(), (numbers, turn) => {
        const sorted = numbers.toSorted((a, b) => a - b)
        const pairs = sorted.flatMap((start, i) =>
          i % 2 === 0 && i + 1 < sorted.length ? [range(start, sorted[i + 1] ?? 0)] : [],
        )
        const ranges = [...pairs.slice(turn % pairs.length), ...pairs.slice(0, turn % pairs.length)]
        const header = `bytes=${ranges.map(({ start, end }) => `${start}-${end}`).join(',')}`
        expect(parseRange(header, 10_000)).to.deep.equal(ranges)
      }),
    )
  })

  it('returns ranges within the file that do not overlap, whatever the header is', () => {
    const text = fc.string({ unit: fc.constantFrom('0', '1', '7', '9', '-', ',', ' ', 'x') })
    return holds(
      fc.property(text, fc.nat(100), (list, size) => {
        const found = parseRange(`bytes=${list}`, size)
        if (found === undefined || found === 'unsatisfiable') return
        const sorted = found.toSorted((a, b) => a.start - b.start)
        for (const [i, { start, end }] of sorted.entries()) {
          expect(start).to.be.within((sorted[i - 1]?.end ?? -1) + 1, end)
          expect(end).to.be.below(size)
        }
        expect(found.length).to.be.within(1, 8)
      }),
    )
  })

  it('parses a long header, however long it is', () => {
    // What takes the square of it takes an hour.
    const longest = 2 * 1024 * 1024
    for (const header of [' ', '\t', ',', '1', '-', ' ,', '1-,'].map(
      (part) => `bytes=${part.repeat(longest)}x`,
    )) {
      expect(parseRange(header, 10_000)).to.equal(undefined)
    }
  })

  for (const header of [
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=1',
    'bytes=1-2-3',
    'bytes=-1-2',
    'bytes=2-1',
    'bytes=0-1,5-4',
    'bytes=0-1;2-3',
    'bytes=0x0-0x1',
    'bytes=1.5-2',
    'bytes=+1-2',
    'bytes=0 - 1',
    'bytes:0-1',
    'bytes 0-1',
    'items=0-1',
    'xbytes=0-1',
    'bytes=0-1\n',
    'bytes=,',
    'bytes= , ',
    'bytes =0-1',
    ' bytes=0-1',
    'bytes=0-1\u00a0',
    'bytes=0-1,\u00a05-6',
    // More than are answered, some of them beyond the end.
    'bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16',
    'bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,20000-',
    'bytes=20000-,20000-,20000-,20000-,20000-,20000-,20000-,20000-,20000-',
    // Overlapping, in any order.
    'bytes=500-700,601-999',
    'bytes=601-999,500-700',
    'bytes=0-1,1-2',
    'bytes=0-1,0-1',
    'bytes=0-,-1',
    'bytes=5-5,0-9,20-30',
    'bytes=0-0,2-2,4-4,3-9',
  ]) {
    it(`ignores ${JSON.stringify(header)}`, () => {
      expect(parseRange(header, 10_000)).to.equal(undefined)
    })
  }
})
