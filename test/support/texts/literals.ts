/** A string or template literal. */
export interface Literal {
  /** As long as in the source: an escape such as `\n` is two spaces, and each `${…}` is as many {@link HOLE}. */
  text: string
  /** The index of its first character in the source. */
  at: number
}

/** Replaces each `${…}` of a template. */
export const HOLE = '…'

/** A slash after one of these begins a regular expression; after anything else it divides. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|yield|await))\s*$/

const SKIPPED = {
  lineComment: /\/\/[^\n]*/y,
  blockComment: /\/\*[\s\S]*?\*\//y,
  regex: /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y,
}
const QUOTED = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y

function withoutEscapes(text: string): string {
  return text.replace(/\\[^\n]/g, '  ')
}

function matchAt(pattern: RegExp, source: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0] ?? ''
}

/**
 * The string and template literals of TypeScript or JavaScript, in order of their ends. Comments and regular
 * expressions are skipped. TypeScript 7 has no parser to call from JavaScript, so this reads the few tokens that matter.
 */
export function literals(source: string): Literal[] {
  const found: Literal[] = []
  readCode(source, 0, found)
  return found
}

/** Reads code up to the end, or up to the brace that closes a `${`. Returns the index behind it. */
function readCode(source: string, from: number, found: Literal[]): number {
  let depth = 0
  // Code since the last literal or comment: what decides whether a slash divides.
  let before = ''
  for (let at = from; at < source.length; ) {
    const char = source[at] ?? ''
    const skipped =
      matchAt(SKIPPED.lineComment, source, at) ||
      matchAt(SKIPPED.blockComment, source, at) ||
      (char === '/' && BEFORE_REGEX.test(before) ? matchAt(SKIPPED.regex, source, at) : '')
    const quoted = matchAt(QUOTED, source, at)
    if (skipped !== '') {
      at += skipped.length
    } else if (quoted !== '') {
      found.push({ text: withoutEscapes(quoted.slice(1, -1)), at: at + 1 })
      before = 'x'
      at += quoted.length
    } else if (char === '`') {
      at = readTemplate(source, at + 1, found)
      before = 'x'
    } else if (char === '}' && depth === 0 && from > 0) {
      return at + 1
    } else {
      if (char === '{') depth++
      if (char === '}') depth--
      before = before.slice(-20) + char
      at++
    }
  }
  return source.length
}

/** Reads a template from behind its first backtick. Returns the index behind its last one. */
function readTemplate(source: string, from: number, found: Literal[]): number {
  let text = ''
  let at = from
  while (at < source.length && source[at] !== '`') {
    if (source.startsWith('${', at)) {
      const end = readCode(source, at + 2, found)
      // As long as the code in it, so that an index in the text is one in the source.
      text += source.slice(at, end).replace(/[^\n]/g, HOLE)
      at = end
    } else {
      const length = source[at] === '\\' ? 2 : 1
      text += source.slice(at, at + length)
      at += length
    }
  }
  found.push({ text: withoutEscapes(text), at: from })
  return at + 1
}
