import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { DURATION, parseDuration } from './duration.ts'

// Parsers of arguments. Each throws InvalidArgumentError for an invalid text.

/** A duration such as `90m`, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError(`expected ${DURATION} but received "${text}"`)
  return ms
}

export function onOrOff(text: string): boolean {
  if (text !== 'on' && text !== 'off')
    throw new InvalidArgumentError(`expected on or off but received "${text}"`)
  return text === 'on'
}

export function version(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError(`expected a version like 1 but received "${text}"`)
}

/** Widths in pixels; false for `any`. */
export function widths(text: string): number[] | false {
  if (text === 'any') return false
  if (/^\d{1,5}(,\d{1,5})*$/.test(text)) return text.split(',').map(Number)
  throw new InvalidArgumentError(`expected widths in pixels like 320,640 or any but received "${text}"`)
}

/** Names of hosts, or `any`; false for `default`. */
export function fetchHosts(text: string): string[] | 'any' | false {
  if (text === 'default') return false
  if (text === 'any') return text
  return text === 'none' ? [] : text.split(',')
}

/** Names of hosts; false for `none`. */
export function fetchDenyHosts(text: string): string[] | false {
  return text === 'none' ? false : text.split(',')
}

/** A whole number; false for `default`. */
export function limit(text: string): number | false {
  if (text === 'default') return false
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError(`expected a number or default but received "${text}"`)
}

// The maximum of service/clients/rules.ts: 90 days.
const KEEP_DELETED_MAX_SECONDS = 7_776_000

/** A duration in seconds; false for `off`. */
export function keepDeleted(text: string): number | false {
  const seconds = text === 'off' ? false : Math.ceil(duration(text) / 1000)
  if (seconds === false || (seconds > 0 && seconds <= KEEP_DELETED_MAX_SECONDS)) return seconds
  throw new InvalidArgumentError(`--keep-deleted must be from 1s to 90d, or off, received "${text}"`)
}

/** `reuse`, or false for `off`. */
export function dedupe(text: string): 'reuse' | false {
  if (text === 'reuse') return text
  if (text === 'off') return false
  throw new InvalidArgumentError(`expected reuse or off but received "${text}"`)
}

/** Adds one `--rate` to the ones before it; false for `default`. */
export function rates(
  text: string,
  before: Record<string, number | false> = {},
): Record<string, number | false> {
  const [, name = '', value = ''] = /^([a-z_]+)=(\d{1,10}|default)$/.exec(text) ?? []
  if (name) return { ...before, [name]: limit(value) }
  throw new InvalidArgumentError(`expected a rate limit like zip=100 or zip=default but received "${text}"`)
}

/** The content of a JSON file; false for `none`. */
export function presets(file: string): unknown {
  if (file === 'none') return false
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new InvalidArgumentError(
      `expected a JSON file or none but received "${file}": ${(error as Error).message}`,
    )
  }
}
