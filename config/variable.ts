/** One environment variable: how it is read, and what people are told of it. */
export interface Variable<T> {
  /** One line: what it is for. */
  help: string
  /** What is accepted, for messages: `a whole number of bytes from 1`. */
  expected: string
  /** As shown to people; the value itself is what `read` makes of it. Undefined: none. */
  default?: string
  /** Never shown. */
  secret?: boolean
  /** The value, or undefined when the text is not of the expected form. */
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

/** One of a few words, as they are written. */
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

/** Text that a pattern matches. */
export function text({
  pattern,
  ...rest
}: Omit<Variable<string>, 'read'> & { pattern: RegExp }): Variable<string> {
  return { ...rest, read: (value) => (pattern.test(value) ? value : undefined) }
}

/** Texts that are each right, at least one; with spaces between unless told otherwise. */
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
