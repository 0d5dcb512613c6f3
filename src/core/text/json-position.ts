// Of our own: the parsers that name a position quote the text, or hold a tree of it. Node's own messages quote the text, and often lack the position.
const SPACE = /[ \t\n\r]*/y
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

/**
 * The place of the first error in a text that is no JSON: `line 3, column 12`, both from 1, or `the end of the body`.
 *
 * @returns undefined when the text is JSON
 * @see RFC 8259
 */
export function jsonErrorPlace(text: string): string | undefined {
  const at = errorOffset(text)
  if (at === undefined) return undefined
  if (at >= text.length) return 'the end of the body'
  const before = text.slice(0, at).split('\n')
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
}

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'comma or end' | 'nothing'

/** The offset of the first character that cannot be there; without recursion, since nesting may be deep. */
function errorOffset(text: string): number | undefined {
  const open: Array<'}' | ']'> = []
  let expected: Expected = 'value'
  let at = 0
  /** Moves past what the pattern matches here. */
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const afterValue = (): Expected => (open.length > 0 ? 'comma or end' : 'nothing')
  for (;;) {
    skip(SPACE)
    const character = text[at]
    if (expected === 'nothing') return at < text.length ? at : undefined
    if (expected.endsWith('or end') && character !== undefined && character === open.at(-1)) {
      open.pop()
      at += 1
      expected = afterValue()
    } else if (expected === 'comma or end') {
      if (character !== ',') return at
      at += 1
      expected = open.at(-1) === '}' ? 'name' : 'value'
    } else if (expected.startsWith('name')) {
      if (!skip(STRING)) return at
      skip(SPACE)
      if (text[at] !== ':') return at
      at += 1
      expected = 'value'
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']')
      at += 1
      expected = character === '{' ? 'name or end' : 'value or end'
    } else {
      if (!skip(STRING) && !skip(SCALAR)) return at
      expected = afterValue()
    }
  }
}
