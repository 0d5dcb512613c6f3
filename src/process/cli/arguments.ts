import { InvalidArgumentError } from 'commander'
import { readDuration } from '../../core/text/duration.ts'

// Parsers of arguments. Each throws InvalidArgumentError for an invalid text.

/** A duration such as `90m`, in milliseconds. */
export function duration(text: string): number {
  return usageErrors(() => readDuration(text))
}

export function version(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError(`expected a version like 1 but received "${text}"`)
}

/** Runs a parser. Its errors are shown with the usage of the command. */
export function usageErrors<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}
