import type { ByteRange } from './asset.ts'

// A PDF reader needs several parts at once: the trailer, its table and a page. An attacker requests thousands.
const MAX_RANGES = 8

/**
 * Parses a `Range` header for a file of `size` bytes.
 *
 * @returns the satisfiable ranges in the order of the header, 1 to 8 without overlap; `unsatisfiable` when there is
 *   no such range; undefined when the header must be ignored: another unit, a syntax error, more than 8 ranges, or
 *   overlapping ones
 * @see RFC 9110 section 14.1.2 and 14.2
 */
export function parseRange(header: string, size: number): ByteRange[] | 'unsatisfiable' | undefined {
  const list = /^bytes=(.*)$/i.exec(header)?.[1]
  if (list === undefined) return undefined
  // RFC 9110 section 5.6.1.2: empty elements of a list must be ignored.
  const specs = list.split(',').filter((spec) => !/^[ \t]*$/.test(spec))
  if (specs.length === 0 || specs.length > MAX_RANGES) return undefined
  const ranges: ByteRange[] = []
  for (const spec of specs) {
    const match = /^[ \t]*(\d*)-(\d*)[ \t]*$/.exec(spec)
    if (!match || (match[1] === '' && match[2] === '')) return undefined
    const range = resolve(match[1] ?? '', match[2] ?? '', size)
    if (range === 'invalid') return undefined
    if (range) ranges.push(range)
  }
  if (overlap(ranges)) return undefined
  return ranges.length > 0 ? ranges : 'unsatisfiable'
}

function resolve(first: string, last: string, size: number): ByteRange | 'invalid' | undefined {
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length > 0 ? { start: size - length, end: size - 1 } : undefined
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Number(last)
  if (last !== '' && end < start) return 'invalid'
  return start < size ? { start, end: Math.min(end, size - 1) } : undefined
}

function overlap(ranges: readonly ByteRange[]): boolean {
  const sorted = ranges.toSorted((a, b) => a.start - b.start)
  return sorted.some(({ start }, i) => start <= (sorted[i - 1]?.end ?? -1))
}
