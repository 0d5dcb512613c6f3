import type { MediaGroup } from '../media/groups.ts'
import { Problem } from '../problem.ts'
import { truncate } from '../text/truncate.ts'
import { urlInvalid } from '../url-problems.ts'

// Of our own: the packages of these services build URLs, and read none.

/** A name that a file may have, and the format that the URL requests if the file has this name. */
export interface CompatName {
  name: string
  format?: string
}

/** What the URL of another service requests, in our words. */
export interface CompatUrl {
  group: MediaGroup
  /** The names that the file may have, in the order in which they are tried; or the URL of a file of another server. */
  source: { names: readonly CompatName[] } | { url: string }
  /** Our parameters. The pipeline checks their values. */
  query: ReadonlyMap<string, string>
  /** Whether the URL has a signature that was verified. */
  isSigned: boolean
  /** When a signed URL expires, in milliseconds since 1970; absent for one that does not. */
  until?: number | undefined
}

/** Our parameters for one option of another service. */
export type Mapped = Readonly<Record<string, string>>

/** Words of another service, with ours. Names of Object.prototype are no words. */
export function words<T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(table))
}

/** An option of another service. */
export interface OptionMapping {
  /** Our equivalent, for the documentation: `w`. */
  equivalent: string
  /** Our parameters; undefined for a value that has no equivalent. An empty object for one that changes nothing here. */
  map(value: string, options: ReadonlyMap<string, string>): Mapped | undefined
}

/** 400. @param option as it is in the URL: `e_sepia`. @param instead what to use, as a sentence */
export function noEquivalent(service: string, option: string, instead?: string): Problem {
  const name = truncate(option)
  const hint = instead === undefined ? '' : ` ${instead}`
  return new Problem({
    status: 400,
    code: 'no_equivalent',
    detail: `Sluice has no equivalent of ${JSON.stringify(name)} in URLs of ${service}.${hint}`,
    members: { received: name },
  })
}

/** 403: the signature of a URL in the format of another service does not match. */
export function invalidSignature(): Problem {
  return urlInvalid('it was signed with another key')
}

/** Maps all options of a URL. @throws Problem 400 for one without an equivalent */
export function mapOptions(
  options: ReadonlyMap<string, string>,
  {
    table,
    service,
    text,
  }: {
    table: Readonly<Record<string, OptionMapping>>
    service: string
    /** An option as it is in the URL. */
    text: (name: string, value: string) => string
  },
): Map<string, string> {
  const query = new Map<string, string>()
  for (const [name, value] of options) {
    const known = Object.hasOwn(table, name) ? table[name] : undefined
    const mapped = known?.map(value, options)
    if (!mapped) throw noEquivalent(service, text(name, value))
    for (const [parameter, given] of Object.entries(mapped)) query.set(parameter, given)
  }
  return query
}

/** An option whose value is the value of our parameter, if it matches. */
export function same(parameter: string, pattern: RegExp): OptionMapping {
  return {
    equivalent: `\`${parameter}\``,
    map: (value) => (pattern.test(value) ? { [parameter]: value } : undefined),
  }
}

/** Our parameter for a word; undefined for an unknown word. */
export function mappedWord(parameter: string, word: string | undefined): Mapped | undefined {
  return word === undefined ? undefined : { [parameter]: word }
}

/** An option that has no effect here. @param reason for the documentation, as a noun phrase or sentence without full stop */
export function ignored(reason: string, pattern = /^/): OptionMapping {
  return { equivalent: `ignored: ${reason}`, map: (value) => (pattern.test(value) ? {} : undefined) }
}
