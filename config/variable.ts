/** An environment variable: its parser and its documentation. */
export interface Variable<T> {
  /** Its purpose, in one line. */
  help: string
  /** The accepted values, for messages: `a whole number of bytes from 1`. */
  expected: string
  /** The default as text, which `read` parses. Undefined without a default. */
  default?: string
  /** Set for values that messages and logs must not show. */
  secret?: boolean
  /** Returns the value, or undefined when the text is invalid. */
  read(text: string): T | undefined
}

/** A whole number; both bounds are inclusive. */
export function integer({
  min,
  max,
  unit,
  default: byDefault,
  ...rest
}: {
  min: number
  max?: number
  unit?: string
  help: string
  default?: number
}): Variable<number> {
  const bounds = max === undefined ? `from ${min}` : `from ${min} to ${max}`
  return {
    ...rest,
    ...(byDefault === undefined ? {} : { default: String(byDefault) }),
    expected: `a whole number${unit ? ` of ${unit}` : ''} ${bounds}`,
    read(text) {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER) ? value : undefined
    },
  }
}

/** One of these words, case-sensitive. */
export function oneOf<const W extends string>({
  words,
  ...rest
}: {
  words: readonly W[]
  help: string
  default: W
}): Variable<W> {
  return {
    ...rest,
    expected: `one of ${words.join(', ')}`,
    read: (text) => words.find((word) => word === text),
  }
}

/** A text that matches a pattern. */
export function text({
  pattern,
  ...rest
}: Omit<Variable<string>, 'read'> & { pattern: RegExp }): Variable<string> {
  return { ...rest, read: (value) => (pattern.test(value) ? value : undefined) }
}

/** A list of at least one valid text, separated by spaces by default. */
export function listOf({
  item,
  separator = /\s+/,
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
