/** Environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** An environment variable: its parser, and the texts about it. */
export interface Variable<T> {
  /** A noun phrase, then the effect of special values; with full stops. */
  help: string
  /** The accepted values, for messages: `an integer (bytes) from 1`. */
  expected: string
  /** The default as text, parsed by `read`. Undefined for no default. */
  default?: string
  /** Whether the value is left out of messages. */
  secret?: boolean
  /** The value, or undefined when the text is invalid. */
  read(text: string): T | undefined
}

/** A variable that always has a value. */
export type Defaulted<T> = Variable<T> & { default: string }

interface IntegerOptions {
  min: number
  max?: number
  unit?: string
  help: string
  default?: number
}

/** An integer; both bounds are inclusive. */
export function integer(options: IntegerOptions & { default: number }): Defaulted<number>
export function integer(options: IntegerOptions): Variable<number>
export function integer({ min, max, unit, default: byDefault, ...rest }: IntegerOptions): Variable<number> {
  const bounds = max === undefined ? `from ${min}` : `from ${min} to ${max}`
  return {
    ...rest,
    ...(byDefault === undefined ? {} : { default: String(byDefault) }),
    expected: `an integer${unit ? ` (${unit})` : ''} ${bounds}`,
    read(text) {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER) ? value : undefined
    },
  }
}

/** One of a few words, case-sensitive. */
export function oneOf<const W extends string>({
  words,
  ...rest
}: {
  words: readonly W[]
  help: string
  default: W
}): Defaulted<W> {
  return {
    ...rest,
    expected: `one of ${words.join(', ')}`,
    read: (text) => words.find((word) => word === text),
  }
}

type TextOptions = Omit<Variable<string>, 'read'> & { pattern: RegExp }

/** A text that matches a pattern. */
export function text(options: TextOptions & { default: string }): Defaulted<string>
export function text(options: TextOptions): Variable<string>
export function text({ pattern, ...rest }: TextOptions): Variable<string> {
  return { ...rest, read: (value) => (pattern.test(value) ? value : undefined) }
}

/** A list of at least one item, separated by spaces or commas by default. */
export function listOf({
  item,
  separator = /[\s,]+/,
  ...rest
}: {
  item: (text: string) => boolean
  expected: string
  separator?: RegExp
  help: string
  secret?: boolean
}): Variable<readonly string[]> {
  return {
    ...rest,
    read(text) {
      const items = text.split(separator).filter((each) => each !== '')
      return items.length > 0 && items.every(item) ? items : undefined
    },
  }
}
