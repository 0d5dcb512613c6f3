import type { ByteRange } from './asset.ts'

/**
 * Reads a `Range` header against a file of `size` bytes.
 *
 * @returns the satisfiable ranges in the order asked; `unsatisfiable` when there is none; undefined when the header is
 *   to be ignored: another unit, or not of the grammar
 * @see RFC 9110 section 14.1.2 and 14.2
 */
export function parseRange(header: string, size: number): ByteRange[] | 'unsatisfiable' | undefined {
  const specs = /^bytes\s*=\s*(.+)$/i.exec(header)?.[1]
  if (specs === undefined) return undefined
  const ranges: ByteRange[] = []
  for (const spec of specs.split(',')) {
    const match = /^(\d*)-(\d*)$/.exec(spec.trim())
    if (!match || (match[1] === '' && match[2] === '')) return undefined
    const range = resolve(match[1] ?? '', match[2] ?? '', size)
    if (range === 'invalid') return undefined
    if (range) ranges.push(range)
  }
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
