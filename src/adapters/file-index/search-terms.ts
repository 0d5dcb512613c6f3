import type { Findable, SearchTerm } from '../../core/ports/index/file-search.ts'
import { folded } from '../../core/text/folded.ts'

/**
 * The longest term of a name, in characters. A longer part of a name is found by its beginning, and then compared. Limits
 * the size of the index: a name has one term for each of its characters. `redis/search-lua.ts` has the same number.
 */
export const TERM_CHARACTERS = 32

/** The texts by which an original is found: its folded name, then its tags. No text has a line break. */
export function searchTexts({ originalName, tags = [] }: Findable): [name: string, ...tags: string[]] {
  return [oneLine(folded(originalName)), ...tags.map(oneLine)]
}

/**
 * The terms of an original: `n` and the end of its folded name from each character on, and `t` and each tag. So names that
 * have a text are those that have a term with this beginning. `redis/search-lua.ts` computes the same.
 */
export function searchTerms(record: Findable): string[] {
  const [name, ...tags] = searchTexts(record)
  const characters = [...name]
  return [
    ...characters.map((_, i) => `n${characters.slice(i, i + TERM_CHARACTERS).join('')}`),
    ...tags.map((tag) => `t${tag}`),
  ]
}

/** The beginning of the terms that match, or the only one. */
export function searched(term: SearchTerm): { beginning: string } | { whole: string } {
  if ('tag' in term) return { whole: `t${oneLine(term.tag)}` }
  return { beginning: `n${[...oneLine(term.name)].slice(0, TERM_CHARACTERS).join('')}` }
}

// A line break separates texts in Redis. No file name of an upload and no tag has one.
function oneLine(text: string): string {
  return text.replaceAll('\n', ' ')
}
