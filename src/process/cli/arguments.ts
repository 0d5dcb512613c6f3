import { InvalidArgumentError } from 'commander'
import { readDuration } from '../../core/text/duration.ts'

// Parsers of arguments. Each throws InvalidArgumentError for an invalid text.

/** A duration such as `90m`, in milliseconds. */
export function duration(text: string): number {
  return usageErrors(() => readDuration(text))
}

/** A day or an instant in ISO 8601, in milliseconds since 1970. A day begins in UTC. */
export function instant(text: string): number {
  const at = /^20\d\d-\d\d-\d\d(T.+)?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(at)) return at
  throw new InvalidArgumentError(
    `expected a date like 2026-11-29 or 2026-11-29T12:00:00Z but received "${text}"`,
  )
}

export function version(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError(`expected a version like 1 but received "${text}"`)
}

/** A number of partitions. */
export function partitions(text: string): number {
  if (text === '1' || text === '64') return Number(text)
  throw new InvalidArgumentError(`expected 1 or 64 partitions but received "${text}"`)
}

/** Runs a parser. Its errors are shown with the usage of the command. */
export function usageErrors<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}
