import { NOTHING_UNSEEN, UNSEEN_CHARACTER } from '../files/relative-path.ts'
import { parsePath } from '../files/request-path.ts'
import { parseColor } from '../media/color.ts'
import type { MediaGroup } from '../media/groups.ts'
import type { Preference } from '../media/preferences.ts'
import { badParameter, Problem } from '../problem.ts'

/** The value of a number that is chosen for each request. */
export const AUTO = 'auto'

type AutomaticPreference = Exclude<Preference, 'accept'>

interface Described {
  /** Other names for the same parameter; the record's own key is the canonical one. */
  aliases?: readonly string[]
  /** One line for `GET /v1/parameters` and docs/reference. */
  help: string
}

/** A parameter as data: its accepted values and its purpose. All bounds are inclusive. */
export type ParameterSpec = Described &
  // `auto`: the value `auto` is accepted too. The plugin receives the number that fits this preference of the request.
  (
    | {
        type: 'integer'
        min: number
        max: number
        unit?: string
        default?: number
        auto?: AutomaticPreference
      }
    // `bare`: the value when the query has the name alone, `?trim`.
    | {
        type: 'number'
        min: number
        max: number
        unit?: string
        default?: number
        bare?: number
        auto?: AutomaticPreference
      }
    // `synonyms`: other words for a value, `{ jpg: 'jpeg' }`.
    | {
        type: 'enum'
        values: readonly string[]
        synonyms?: Readonly<Record<string, string>>
        default?: string
      }
    // `words`: further values, which the plugin receives as they are.
    | { type: 'flag'; words?: readonly string[] }
    // Free text in Unicode form NFC, without leading and trailing white space; `maxLength` in code points.
    // `lines`: it may have line breaks, each of which becomes a line feed.
    | { type: 'text'; maxLength: number; lines?: true; default?: string }
    // The key of another original of the same client, a file of this group.
    | { type: 'key'; group: MediaGroup }
    // As many numbers as there are `names`. `min` and `max` have one bound per number, in the same order.
    | {
        type: 'list'
        of: 'integer' | 'number'
        names: readonly string[]
        separator: ',' | ':'
        min: readonly number[]
        max: readonly number[]
        unit?: string
        /** The minimum count of numbers; the rest may be left out. All are required by default. */
        atLeast?: number
        /** The maximum count of groups of these numbers, separated by `;`. The values of all groups are one array. Default: 1. */
        groups?: number
      }
    | { type: 'color'; default?: string }
  )

export type ParameterSpecs = Readonly<Record<string, ParameterSpec>>

type ValueOf<S extends ParameterSpec> = S extends { type: 'integer' | 'number' }
  ? number
  : S extends { type: 'enum'; values: readonly (infer V)[] }
    ? V
    : S extends { type: 'text' | 'key' | 'color' }
      ? string
      : S extends { type: 'list' }
        ? readonly number[]
        : S extends { type: 'flag'; words: readonly (infer W)[] }
          ? boolean | W
          : boolean

/** The values that `transform` receives: each parameter that the query names or that has a default. */
export type ParameterValues<P extends ParameterSpecs> = {
  [K in keyof P]: P[K] extends { default: unknown } ? ValueOf<P[K]> : ValueOf<P[K]> | undefined
}

export type ParameterValue = number | string | boolean | readonly number[]

/**
 * Parses one value of a query.
 *
 * @returns undefined for a flag that is switched off, which equals an absent one
 * @throws Problem 400 that names the parameter, the accepted values and the received one
 */
export function parseParameter(
  name: string,
  spec: ParameterSpec,
  received: string,
): ParameterValue | undefined {
  if ('auto' in spec && spec.auto && received.toLowerCase() === AUTO) return AUTO
  switch (spec.type) {
    case 'integer':
      return inBounds(name, spec, received, INTEGER)
    case 'number':
      if (spec.bare !== undefined && /^(|true)$/i.test(received)) return spec.bare
      if (spec.bare !== undefined && /^false$/i.test(received)) return undefined
      return inBounds(name, spec, received, NUMBER)
    case 'enum': {
      const word = received.toLowerCase()
      const value = spec.synonyms && Object.hasOwn(spec.synonyms, word) ? spec.synonyms[word] : word
      if (value === undefined || !spec.values.includes(value)) throw refusal(name, spec, received)
      return value
    }
    case 'flag':
      if (/^(|1|true)$/i.test(received)) return true
      if (/^(0|false)$/i.test(received)) return undefined
      if (spec.words?.includes(received.toLowerCase())) return received.toLowerCase()
      throw refusal(name, spec, received)
    case 'text': {
      const text = received.normalize('NFC').replace(/\r\n?/g, '\n').trim()
      const length = [...text].length
      const fits = length >= 1 && length <= spec.maxLength
      const shown = spec.lines ? text.replaceAll('\n', '') : text
      if (!fits || !text.isWellFormed() || UNSEEN_CHARACTER.test(shown)) throw refusal(name, spec, received)
      return text
    }
    case 'key': {
      const key = originalKey(received, spec.group)
      if (key === undefined) throw refusal(name, spec, received)
      return key
    }
    case 'list':
      return numbers(name, spec, received)
    case 'color': {
      const color = parseColor(received)
      if (color === undefined) throw refusal(name, spec, received)
      return color
    }
  }
}

/** Returns the full key of the file, also for a short path, so that each file has one name. */
function originalKey(path: string, group: MediaGroup): string | undefined {
  try {
    const { full, short } = parsePath(path)
    const name = full ?? short
    return full?.variant === undefined && name?.format.group === group ? name.key : undefined
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

const INTEGER = /^\d{1,15}$/
const NUMBER = /^-?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})$/

/** Describes the accepted values, for messages and documents: `an integer from 1 to 5000`. */
export function expectation(spec: ParameterSpec): string {
  switch (spec.type) {
    case 'integer':
    case 'number':
      return `${spec.type === 'integer' ? 'an integer' : 'a number'} from ${spec.min} to ${spec.max}${unitOf(spec)}${'bare' in spec ? ` (no value means ${spec.bare})` : ''}${spec.auto ? ` or ${AUTO}` : ''}`
    case 'enum':
      return `one of ${spec.values.join(', ')}`
    case 'flag':
      return `no value, ${['1', '0', ...(spec.words ?? [])].join(', ').replace(/, ([^,]*)$/, ' or $1')}`
    case 'text':
      return `a text of 1 to ${spec.maxLength} characters ${NOTHING_UNSEEN}${spec.lines ? '; line breaks are accepted' : ''}`
    case 'key':
      return `[folder/]<sourceName> or the full key of an original of type ${spec.group}`
    case 'list': {
      const { of, names, separator, min, max, atLeast = names.length } = spec
      const count = atLeast === names.length ? names.length : `${atLeast} to ${names.length}`
      const namesByBounds = new Map<string, string[]>()
      for (const [i, name] of names.entries()) {
        const bounds = `from ${min[i]} to ${max[i]}`
        namesByBounds.set(bounds, [...(namesByBounds.get(bounds) ?? []), name])
      }
      const parts = [...namesByBounds].map(([bounds, those]) => `${those.join(' and ')} ${bounds}`)
      const each = namesByBounds.size === 1 ? [...namesByBounds.keys()] : parts
      const group = `${count} ${of}s ${names.join(separator)} (${each.join(', ')}${unitOf(spec)})`
      return spec.groups === undefined ? group : `1 to ${spec.groups} groups, separated by ";", of ${group}`
    }
    case 'color':
      return 'a colour: 3, 4, 6 or 8 hexadecimal digits, a CSS name or transparent'
  }
}

function unitOf({ unit }: { unit?: string }): string {
  return unit ? ` ${unit}` : ''
}

/** Returns a value as text for a derivative's key. Equal values have equal texts. */
export function canonicalValue(value: ParameterValue): string {
  if (value === true) return '1'
  return typeof value === 'object' ? value.join() : String(value)
}

function numbers(
  name: string,
  spec: Extract<ParameterSpec, { type: 'list' }>,
  received: string,
): readonly number[] {
  const { of, names, separator, min, max, atLeast = names.length, groups: most = 1 } = spec
  const form = of === 'integer' ? INTEGER : NUMBER
  const groups = (most > 1 ? received.split(';') : [received]).map((group) =>
    group.split(separator).map((text) => (form.test(text) ? Number(text) : Number.NaN)),
  )
  const fits = groups.every(
    (values) =>
      values.length >= atLeast &&
      values.length <= names.length &&
      values.every((value, i) => value >= Number(min[i]) && value <= Number(max[i])),
  )
  if (groups.length > most || !fits) throw refusal(name, spec, received)
  return groups.flat().map((value) => value + 0)
}

function inBounds(
  name: string,
  spec: Extract<ParameterSpec, { min: number }>,
  received: string,
  form: RegExp,
): number {
  const value = form.test(received) ? Number(received) : Number.NaN
  if (!(value >= spec.min && value <= spec.max)) throw refusal(name, spec, received)
  // Adding zero turns -0 into 0.
  return value + 0
}

function refusal(name: string, spec: ParameterSpec, received: string): Problem {
  return badParameter({ param: name, expected: expectation(spec), received })
}
