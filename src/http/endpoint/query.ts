import { z } from 'zod'
import type { ParameterSpec } from '../../core/plugin-api/parameter.ts'
import { parseParameter } from '../../core/plugin-api/parameter.ts'
import { badParameter, type Problem } from '../../core/problem.ts'
import { type Day, dayOf } from '../../core/text/day.ts'
import { listed } from '../../core/text/listed.ts'
import type { JsonSchema } from '../documents/json-schema.ts'
import { FLAG } from '../documents/parameters.ts'
import { checkNames, onlyValue, type QueryPairs, readFlag } from '../request.ts'

/** A parameter of the query: as the API document has it, and how its text is read. */
export interface QueryParameter<T> {
  description: string
  schema: JsonSchema
  /** @throws Problem 400 for a value that is not accepted */
  read(received: string | undefined, name: string): T
}

/** The parameters of an endpoint by name. The query may have no others. */
export type QueryParameters = Readonly<Record<string, QueryParameter<unknown>>>

/** The values of these parameters. */
export type QueryValues<Q> = { [Name in keyof Q]: Q[Name] extends QueryParameter<infer T> ? T : never }

/**
 * Reads a query.
 *
 * @param refuseOther creates the refusal of another parameter
 * @throws Problem 400 for other parameters, repeated ones, and values that are not accepted
 */
export function readQuery<Q extends QueryParameters>(
  parameters: Q,
  query: QueryPairs,
  refuseOther?: (name: string) => Problem,
): QueryValues<Q> {
  const names = Object.keys(parameters)
  const other = query.find(([name]) => !names.includes(name))
  if (other && refuseOther) throw refuseOther(other[0])
  checkNames(query, names)
  const values = Object.entries(parameters).map(([name, { read }]) => [
    name,
    read(onlyValue(query, name), name),
  ])
  return Object.fromEntries(values)
}

/** Any text. */
export function text(description: string): QueryParameter<string | undefined> {
  return { description, schema: { type: 'string' }, read: (received) => received }
}

/** One of several words. */
export function oneOf<T extends string>(
  words: readonly T[],
  description: string,
): QueryParameter<T | undefined> {
  return {
    description,
    schema: { type: 'string', enum: words },
    read(received, param) {
      const word = words.find((one) => one === received)
      if (word !== undefined || received === undefined) return word
      throw badParameter({ param, expected: `one of ${listed(words)}`, received })
    },
  }
}

/** A text of this form. @param expected describes it: `the ID of a receiver` */
export function matching(
  pattern: RegExp,
  { expected, description }: { expected: string; description: string },
): QueryParameter<string | undefined> {
  return {
    ...text(description),
    read(received, param) {
      if (received === undefined || pattern.test(received)) return received
      throw badParameter({ param, expected, received })
    },
  }
}

/** A time, in milliseconds since 1970. @see RFC 3339 */
export function instantParameter(description: string): QueryParameter<number | undefined> {
  return {
    description,
    schema: { type: 'string', format: 'date-time' },
    read(received, param) {
      if (received === undefined) return undefined
      const { success, data } = z.iso.datetime({ offset: true }).safeParse(received)
      if (success) return Date.parse(data)
      throw badParameter({ param, expected: A_TIME, received })
    },
  }
}

/** What a time looks like, for messages. */
export const A_TIME = 'a time like 2026-11-30T12:00:00Z'

const PAGE_LIMIT: ParameterSpec = { type: 'integer', min: 1, max: 1000, help: '' }
const DEFAULT_PAGE_LIMIT = 100

/** `limit` and `cursor` of a list. @param entries what it lists, as a plural: `files` */
export function pageOf(entries: string): {
  limit: QueryParameter<number>
  cursor: QueryParameter<string | undefined>
} {
  return {
    limit: {
      description: `Maximum number of ${entries} on a page.`,
      schema: { type: 'integer', minimum: 1, maximum: 1000, default: DEFAULT_PAGE_LIMIT },
      read: (received = String(DEFAULT_PAGE_LIMIT), param) =>
        Number(parseParameter(param, PAGE_LIMIT, received)),
    },
    cursor: text('Cursor of the page, from the previous one.'),
  }
}

/** A day in UTC. */
export function day(description: string): QueryParameter<Day | undefined> {
  return {
    description,
    schema: { type: 'string', format: 'date' },
    read(received, param) {
      if (received === undefined) return undefined
      const at = /^20\d\d-\d\d-\d\d$/.test(received) ? Date.parse(received) : Number.NaN
      if (!Number.isNaN(at) && dayOf(at) === received) return received
      throw badParameter({ param, expected: 'a day like 2026-11-30', received })
    },
  }
}

/** A parameter that needs no value: `?files` is true. */
export function flag(description: string): QueryParameter<boolean> {
  return { description, schema: FLAG, read: readFlag }
}
