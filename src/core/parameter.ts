import type { MediaGroup } from './media.ts'
import { parsePath } from './object-key.ts'
import { badParameter, Problem } from './problem.ts'
import { NOTHING_UNSEEN, UNSEEN_CHARACTER } from './relative-path.ts'

interface Described {
  /** Other names for the same parameter; the record's own key is the canonical one. */
  aliases?: readonly string[]
  /** One line for the README. */
  help: string
}

/** A parameter as data: what is accepted, and what for. All bounds are inclusive. */
export type ParameterSpec = Described &
  (
    | { type: 'integer'; min: number; max: number; unit?: string; default?: number }
    | { type: 'number'; min: number; max: number; unit?: string; default?: number }
    // `synonyms`: other words for a value, `{ jpg: 'jpeg' }`.
    | {
        type: 'enum'
        values: readonly string[]
        synonyms?: Readonly<Record<string, string>>
        default?: string
      }
    | { type: 'flag' }
    // Free text, without blanks at its ends, in Unicode's form NFC; `maxLength` in code points.
    | { type: 'text'; maxLength: number; default?: string }
    // Another original of the same client, a file of this group.
    | { type: 'key'; group: MediaGroup }
  )

export type ParameterSpecs = Readonly<Record<string, ParameterSpec>>

type ValueOf<S extends ParameterSpec> = S extends { type: 'integer' | 'number' }
  ? number
  : S extends { type: 'enum'; values: readonly (infer V)[] }
    ? V
    : S extends { type: 'text' | 'key' }
      ? string
      : boolean

/** What `transform` receives: each parameter that the query names or that has a default. */
export type ParameterValues<P extends ParameterSpecs> = {
  [K in keyof P]: P[K] extends { default: unknown } ? ValueOf<P[K]> : ValueOf<P[K]> | undefined
}

export type ParameterValue = number | string | boolean

/**
 * Reads one value of a query.
 *
 * @returns undefined for a flag that is switched off, which is the same as not named
 * @throws Problem 400 that names the parameter, what is accepted and what came
 */
export function parseParameter(
  name: string,
  spec: ParameterSpec,
  received: string,
): ParameterValue | undefined {
  switch (spec.type) {
    case 'integer':
      return inBounds(name, spec, received, /^\d{1,15}$/)
    case 'number':
      return inBounds(name, spec, received, /^-?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})$/)
    case 'enum': {
      const word = received.toLowerCase()
      const value = spec.synonyms && Object.hasOwn(spec.synonyms, word) ? spec.synonyms[word] : word
      if (value === undefined || !spec.values.includes(value)) throw refusal(name, spec, received)
      return value
    }
    case 'flag':
      if (/^(|1|true)$/i.test(received)) return true
      if (/^(0|false)$/i.test(received)) return undefined
      throw refusal(name, spec, received)
    case 'text': {
      const text = received.normalize('NFC').trim()
      const length = [...text].length
      const fits = length >= 1 && length <= spec.maxLength
      if (!fits || !text.isWellFormed() || UNSEEN_CHARACTER.test(text)) throw refusal(name, spec, received)
      return text
    }
    case 'key': {
      const key = originalKey(received, spec.group)
      if (key === undefined) throw refusal(name, spec, received)
      return key
    }
  }
}

/** One name for one file: a short path means the full key that the file's name gives. */
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

/** What a parameter accepts, for messages and documents: `an integer from 1 to 5000`. */
export function expectation(spec: ParameterSpec): string {
  switch (spec.type) {
    case 'integer':
    case 'number':
      return `${spec.type === 'integer' ? 'an integer' : 'a number'} from ${spec.min} to ${spec.max}${spec.unit ? ` ${spec.unit}` : ''}`
    case 'enum':
      return `one of ${spec.values.join(', ')}`
    case 'flag':
      return 'no value, 1 or 0'
    case 'text':
      return `a text of 1 to ${spec.maxLength} characters ${NOTHING_UNSEEN}`
    case 'key':
      return `[folder/]<sourceName> or the full key of an original of type ${spec.group}`
  }
}

/** A value as it stands in a derivative's key: one text for one meaning. */
export function canonicalValue(value: ParameterValue): string {
  return value === true ? '1' : String(value)
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
